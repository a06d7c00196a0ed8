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

/** An attachment whose content Natter keeps. */
export type KeptAttachment = Attachment & Required<Pick<Attachment, 'type' | 'bytes' | 'digest'>>;

export const isKept = (one: Attachment): one is KeptAttachment =>
  one.digest !== undefined && one.type !== undefined && one.bytes !== undefined;
