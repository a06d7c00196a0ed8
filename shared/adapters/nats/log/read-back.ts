import type { SessionKey } from '../../../domain/keys/session-key.ts';
import { limits } from '../../../kit/limits.ts';
import type { Subjects } from '../../../wire/subjects.ts';
import { keyIn, type StoredMessage } from '../../streams/stored-message.ts';
import type { FencedMessage } from '../client/direct-read.ts';

/**
 * Messages that the broker looks through in the time that one takes which is asked for by its sequence: to find the commits of a key it compares
 * the subject of every message in the range, 0.3 µs each (ADR 28).
 */
const messagesForOne = 256;
/** The rest of a longer range is looked through: each step waits for the broker. */
const mostSteps = 64;

/** Reads of the log, each from any replica of it, which may lag behind the others. */
export interface Reads {
  /** The message with this sequence; `null` if there is none. */
  one(seq: number): Promise<FencedMessage | null>;
  /** The key's messages after a sequence and up to another, oldest first: the first of them only, where the replica has no more. */
  forward(after: number, upTo: number): AsyncIterable<StoredMessage>;
}
interface Range {
  readonly key: SessionKey;
  readonly after: number;
  readonly upTo: number;
}

/**
 * A key's messages after `after` and up to `upTo`, oldest first. From `upTo` they are found by the sequence in the fence of each, where looking
 * through the range would cost the broker more; the range that is left, and all of it if `upTo` is no commit of the key, is looked through. As
 * with `forward` those at the end may be missing, never any between.
 */
export async function* readBack({ one, forward }: Reads, subjects: Subjects, range: Range): AsyncGenerator<StoredMessage> {
  const { after, upTo } = range;
  const { rest, messages } = await walkBack(one, subjects, range);
  let last = after;
  for await (const message of forward(after, rest)) {
    last = message.seq;
    yield message;
  }
  // A fence says that the last of the rest was stored. It is lost, or this replica does not have it yet: the walk does not follow on it.
  if (messages.length > 0 && rest > after && last < rest) yield* forward(last, upTo);
  else yield* messages;
}

/** What was found, oldest first, and up to where the range before it is still to be looked through. */
const walkBack = async (
  one: Reads['one'],
  subjects: Subjects,
  { key, after, upTo }: Range,
): Promise<{ readonly rest: number; readonly messages: readonly StoredMessage[] }> => {
  const messages: StoredMessage[] = [];
  let [rest, bytes] = [upTo, 0];
  const steps = Math.min(mostSteps, Math.floor((upTo - after) / messagesForOne));
  for (let step = 0; step < steps && rest > after && bytes < limits.readBytes; step++) {
    const message = await one(rest);
    if (message === null || message.previous === null || keyIn(message, subjects) !== key) break;
    messages.push(message);
    bytes += message.data.length;
    rest = message.previous;
  }
  return { rest, messages: messages.reverse() };
};
