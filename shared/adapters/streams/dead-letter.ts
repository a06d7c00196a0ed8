import type { DeadLetter } from '../../ports/dead-letters.ts';
import { deadLetterCodec } from '../../wire/records.ts';

/**
 * A letter that can always be stored, or its message could never be set aside: texts are cut and made well-formed, the message is
 * kept whole.
 */
export const storable = (letter: DeadLetter): DeadLetter => ({
  ...letter,
  reason: letter.reason.slice(0, 1_000).toWellFormed(),
  subject: letter.subject.slice(0, 1_000).toWellFormed(),
});

/** A dead letter, or `null` if it is unreadable; lists skip those. */
export const letterOrNull = (bytes: Uint8Array): DeadLetter | null => {
  try {
    return deadLetterCodec.decode(bytes);
  } catch {
    return null;
  }
};
