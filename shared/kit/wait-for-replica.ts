import { backoffMs } from './backoff.ts';
import type { Clock } from './clock.ts';

/** Consecutive retries of a lagging replica, and the delays between them: about 4 s in all. */
const lagRetries = 15;
const lagWaits = { firstMs: 1, mostMs: 500 };

/**
 * Waits before the `attempt`-th consecutive retry (from 1) of a replica that lags behind its leader, each time longer. Resolves
 * with `false` when there are no retries left or the signal aborts.
 */
export const waitForReplica = async (clock: Clock, attempt: number, signal?: AbortSignal): Promise<boolean> => {
  if (attempt > lagRetries) return false;
  await clock.sleep(backoffMs(lagWaits, attempt), signal);
  return !signal?.aborted;
};
