import { z } from 'zod';

/** A file that came with a message: where it is, not what is in it. */
export const attachment = z.object({
  name: z.string().min(1).max(256).optional(),
  /** Its media type, such as `image/png`. */
  type: z.string().min(1).max(128).optional(),
  bytes: z.int().min(0).optional(),
  /** Where it can be fetched, or the platform's own id of it. */
  url: z.string().min(1).max(1_024).optional(),
  id: z.string().min(1).max(256).optional(),
  /** SHA-256 of its content in hexadecimal: Natter keeps the content for the session under this name (ADR 27). */
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});
export type Attachment = z.infer<typeof attachment>;

/** The names of files, to stand below or behind what was said with them: `[Attached: a.png, a file]`; empty without files. */
export const attachedText = (attachments: readonly Pick<Attachment, 'name'>[] = []): string =>
  attachments.length === 0 ? '' : `[Attached: ${attachments.map(({ name = 'a file' }) => name).join(', ')}]`;

/** An attachment whose content Natter keeps. */
export type KeptAttachment = Attachment & Required<Pick<Attachment, 'type' | 'bytes' | 'digest'>>;

export const isKept = (one: Attachment): one is KeptAttachment =>
  one.digest !== undefined && one.type !== undefined && one.bytes !== undefined;

/** What the files of one message may be, as `attachments` of the configuration says. */
export interface AttachmentLimits {
  readonly maxMegabytes: number;
  readonly perMessage: number;
  readonly types: readonly string[];
}

/** A file before it is sent. Nobody has said yet of which type one without a type is. */
interface FileToCheck {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  readonly bytes: number;
}

export const emptyFile = 'has no content; send at least one byte';

const megabyte = 1024 * 1024;

/** Why these files cannot be sent with one message; `null`: they can. */
export const problemOfFiles = (
  { maxMegabytes, perMessage, types }: AttachmentLimits,
  files: readonly FileToCheck[],
): { readonly code: 'invalid' | 'too_large'; readonly text: string } | null => {
  const invalid = (text: string) => ({ code: 'invalid', text }) as const;
  if (files.length > perMessage) return invalid(`has ${files.length} files; send at most ${perMessage} (attachments.perMessage)`);
  for (const { name = 'a file', type, bytes } of files) {
    if (bytes === 0) return invalid(`${name} ${emptyFile}`);
    if (type !== undefined && !types.some((allowed) => isOfType(type, allowed)))
      return invalid(`${name} is of type ${type}; those taken are ${types.join(', ') || 'none'} (attachments.types)`);
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxMegabytes * megabyte) return null;
  const sent = (total / megabyte).toFixed(1);
  return {
    code: 'too_large',
    text: `its files have ${sent} MB; send at most ${maxMegabytes} MB (attachments.maxMegabytes)`,
  };
};

const isOfType = (type: string, allowed: string): boolean =>
  allowed.endsWith('/*') ? type.startsWith(allowed.slice(0, -1)) : type === allowed;
