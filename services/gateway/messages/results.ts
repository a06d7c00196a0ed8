import { z } from 'zod';

/** What the operations on messages answer. */

const seq = z.int().min(0);
export const messagesFound = z.object({
  messages: z.array(
    z.object({
      ...{ key: z.string(), shownKey: z.string(), id: z.string().describe('of its event'), seq, at: z.number() },
      role: z.enum(['user', 'assistant']),
      from: z.string().optional().describe('the name of the person who said it'),
      excerpt: z.string(),
    }),
  ),
  since: seq.describe('older messages were not searched; 0: all were'),
  complete: z.boolean().describe('whether all was searched that had been said by then'),
});
