import type { DeadLetter, ListedDeadLetter } from '../../ports/dead-letters.ts';
import { listedLetter } from '../../wire/listed-letter.ts';
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

/** A stored letter as lists show it; `null` if it is unreadable. */
export const listedOrNull = (seq: number, stored: Uint8Array): ListedDeadLetter | null => {
  const letter = letterOrNull(stored);
  if (letter === null) return null;
  return listedLetter({ seq, ...letter });
};

/**
 * Whose flood the bounds confine: the channel of an envelope or a delivery, the session of a command or a checkpoint request, as
 * the subject has it; empty for anything else.
 */
export const sourceOf = ({ subject }: DeadLetter, prefix: string): string => {
  const [kind = '', ...rest] = subject.split('.').slice(prefix.split('.').length);
  const place = { inbound: -2, delivery: -2, command: -1, checkpoint: -1 }[kind];
  return (place !== undefined && rest.at(place)) || '';
};
