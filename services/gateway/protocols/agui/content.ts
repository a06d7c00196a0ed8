import { z } from 'zod';
import { type IncomingFile, notFetched, type ReadFile, readFileData } from '../../attachments/incoming-file.ts';

/** Parts with files, in AG-UI's two forms. */
const binaryPart = z.object({
  ...{ type: z.literal('binary'), mimeType: z.string().optional(), filename: z.string().optional() },
  data: z.string().optional(),
});
const mediaPart = z.object({
  type: z.enum(['image', 'audio', 'video', 'document']),
  source: z.object({ type: z.string(), value: z.string(), mimeType: z.string().optional() }),
  filename: z.string().optional(),
});

/** `null`: no file. */
const fileIn = (part: object): ReadFile | null => {
  const binary = binaryPart.safeParse(part).data;
  if (binary) return read(binary.data, binary);
  const media = mediaPart.safeParse(part).data;
  if (media === undefined) return null;
  const { type, value, mimeType } = media.source;
  return read(type === 'data' ? value : undefined, { mimeType, filename: media.filename });
};

/** What has no data is at an address, or was uploaded before. */
const read = (data: string | undefined, { mimeType: type, filename: name }: Partial<z.infer<typeof binaryPart>>): ReadFile =>
  data === undefined ? notFetched : readFileData(data, { type, name });

/**
 * A text, or the texts and files of a list of parts. A run must not fail for an image (AG-UI 1.0, run input): the text says of a file that cannot
 * be read that it was there; other parts are ignored.
 */
export const messageContent = z
  .union([z.string(), z.array(z.looseObject({ type: z.string() }))], 'use a text, or a list of parts')
  .transform((given): { text: string; files: IncomingFile[] } => {
    if (typeof given === 'string') return { text: given, files: [] };
    const files: IncomingFile[] = [];
    const texts = given.flatMap((part) => {
      if (part.type === 'text') return typeof part.text === 'string' ? [part.text] : [];
      const file = fileIn(part);
      if (file === null) return [];
      if ('problem' in file) return [`[Attached, not readable here: ${part.type}; ${file.problem}]`];
      files.push(file);
      return [];
    });
    return { text: texts.join('\n'), files };
  })
  .refine(({ text, files }) => text.trim() !== '' || files.length > 0, 'has no text; send some');
