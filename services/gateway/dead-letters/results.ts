import { z } from 'zod';
import { deadLetter } from '../../../shared/wire/records.ts';

/** What the operations on dead letters answer. */
const listedLetter = deadLetter
  .omit({ bytes: true })
  .extend({
    seq: z.int().min(0),
    sessionKey: z.string().optional().describe('the session that its message names'),
    size: z.int().min(0).describe('of its message, in bytes'),
  })
  .meta({ id: 'DeadLetter', description: 'A message that nobody could process. `seq` is its place, by which it is found.' });
const repeat = z
  .boolean()
  .nullable()
  .describe('whether the session remembers it already, so that nothing would change; `null`: that cannot be known');
export const deadLetters = z.object({
  deadLetters: z.array(listedLetter),
  next: z.int().nullable().describe('the `before` of the next page; `null`: there is none'),
});
export const deadLetterRead = listedLetter.extend({
  message: z.unknown().describe('as JSON; `null` if it cannot be read'),
  bytes: z.string().describe('the message as it is, in base64'),
  resend: z.object({ isPossible: z.boolean(), wouldRepeat: repeat, why: z.string() }),
});
export const deadLetterResent = listedLetter.extend({
  wouldRepeat: repeat,
  why: z.string(),
  duplicate: z.boolean().describe('the queue had it already, from a resend less than two minutes ago'),
});
export const deadLetterDiscarded = listedLetter;
