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
export const scheduledMessage = z
  .object({
    ...{ runId: z.string(), sessionKey: z.string(), sendAt: z.number(), actor: z.string().describe('whose token scheduled it') },
    command: z.string().describe('what becomes of it: `post_message`, or what a chat command does'),
    text: z.string().nullable().describe('`null`: it is a chat command'),
  })
  .meta({ id: 'ScheduledMessage', description: 'A scheduled message (`sendAt`).' });
export const scheduledMessages = z.object({
  messages: z.array(scheduledMessage),
  complete: z.boolean().describe('`false`: there are more, or too many timers to look at all of them'),
});
