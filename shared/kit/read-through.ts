import type { Clock, EventLog } from '../ports.ts';
import type { SessionKey } from '../routing/session-key.ts';
import type { RecordedCommit } from '../wire/envelope.ts';
import { NatterError } from './errors.ts';

/** Times in a row that a replica is asked again, and the longest wait before that: about 4 s in all. */
const lagRetries = 15;
const lagRetryMs = 500;

/**
 * Waits before a replica that lags behind its leader is asked again for the `attempt`-th time in a row (from 1), each time longer. Resolves
 * with `false` when it has been asked often enough, or the signal aborts.
 */
export const waitForReplica = async (clock: Clock, attempt: number, signal?: AbortSignal): Promise<boolean> => {
  if (attempt > lagRetries) return false;
  await clock.sleep(Math.min(lagRetryMs, 2 ** attempt), signal);
  return !signal?.aborted;
};

/**
 * The key's commits after a sequence, oldest first and at least up to `through`: a replica that is behind is asked again for the rest.
 * Throws `NatterError('unavailable')` when it does not catch up.
 */
export async function* readThrough(
  { events, clock }: { readonly events: EventLog; readonly clock: Clock },
  key: SessionKey,
  { after, through }: { readonly after: number; readonly through: number },
): AsyncGenerator<RecordedCommit, void, undefined> {
  let position = after;
  for (let attempt = 1; ; attempt++) {
    for await (const commit of events.read(key, { after: position })) {
      position = commit.seq;
      yield commit;
    }
    if (position >= through) return;
    if (!(await waitForReplica(clock, attempt))) {
      throw new NatterError('unavailable', `the log of ${key} can be read up to ${position}; ${through} is recorded; try again`);
    }
  }
}
