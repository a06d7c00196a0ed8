import type { SessionKey } from '../../../domain/keys/session-key.ts';
import { limits } from '../../../kit/limits.ts';
import type { Subjects } from '../../../wire/subjects.ts';
import { keyIn, type StoredMessage } from '../../streams/stored-message.ts';
import type { FencedMessage } from '../client/direct-batch.ts';

/** What was found, oldest first, and how far the range before it is still to be read. */
export interface WalkedBack {
  readonly rest: number;
  readonly messages: readonly StoredMessage[];
}

/**
 * Messages that the broker looks through in the time that one takes which is asked for by its sequence: to find the commits of a key it compares
 * the subject of every message in the range, 0.3 µs each (ADR 28).
 */
const messagesForOne = 256;
/** The rest of a longer range is looked through: each step waits for the broker. */
const mostSteps = 64;

/**
 * A key's commits from `upTo` back to `after`, each found by the sequence in the fence of the one after it. Gives up, and leaves the rest, where
 * looking through the range costs the broker less, and at a message that is not there or not the key's.
 */
export const walkBack = async (
  get: (seq: number) => Promise<FencedMessage | null>,
  subjects: Subjects,
  { key, after, upTo }: { readonly key: SessionKey; readonly after: number; readonly upTo: number },
): Promise<WalkedBack> => {
  const messages: StoredMessage[] = [];
  let [rest, bytes] = [upTo, 0];
  const steps = Math.min(mostSteps, Math.floor((upTo - after) / messagesForOne));
  for (let step = 0; step < steps && rest > after && bytes < limits.readBytes; step++) {
    const message = await get(rest);
    if (message === null || keyIn(message, subjects) !== key) break;
    messages.push(message);
    bytes += message.data.length;
    rest = message.previous ?? message.seq - 1;
  }
  return { rest, messages: messages.reverse() };
};
