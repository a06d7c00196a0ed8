import type { DeadLetter } from '../../ports/dead-letters.ts';
import { deadLetterCodec } from '../../wire/records.ts';

/** A letter must always find its place, or what it tells of could never be put aside: texts are cut and made valid, the message is kept whole. */
export const storable = (letter: DeadLetter): DeadLetter => ({
  ...letter,
  reason: letter.reason.slice(0, 1_000).toWellFormed(),
  subject: letter.subject.slice(0, 1_000).toWellFormed(),
});

/** A dead letter that cannot be read is left out of lists. */
export const letterOrNull = (bytes: Uint8Array): DeadLetter | null => {
  try {
    return deadLetterCodec.decode(bytes);
  } catch {
    return null;
  }
};
