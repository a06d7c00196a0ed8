import { z } from 'zod';
import { sender } from '../../values/types.ts';

/** Events about what a platform reports of an earlier message (D9); parts of `sessionEvent`. */
const v1 = z.literal(1);
const id = z.string();

export const revisionEvents = [
  /** The sender, or the owner, changed what message `of` says: `<seq>.<index>` of its event. From here on `text` counts. */
  z.object({ type: z.literal('message_edited'), v: v1, of: id, messageId: id, text: z.string(), by: sender }),
  /** The sender, or the owner, took message `of` back. The log keeps it; the model and the histories show it no longer. */
  z.object({ type: z.literal('message_withdrawn'), v: v1, of: id, messageId: id, by: sender }),
] as const;
