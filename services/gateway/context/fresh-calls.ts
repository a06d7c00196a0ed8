import { LRUCache } from 'lru-cache';
import { uuidv7 } from 'uuidv7';
import type { CallAttempt } from '../../../shared/domain/session/repeats/asked-calls.ts';
import { limits } from '../../../shared/kit/limits.ts';

/**
 * The idempotency keys of calls that start a session of their own, for clients that count their attempts: a retry finds the session of the
 * first attempt, at the same gateway. In a session that has a name, the session itself recognises the retry.
 */
export class FreshCalls {
  readonly #keys = new LRUCache<string, string>({ max: limits.waitingCalls, ttl: limits.askedCallMs });

  /** A new key, or for a retry that of the first attempt. */
  keyOf(call: CallAttempt | undefined): string {
    const known = call === undefined || call.attempt === 0 ? undefined : this.#keys.get(call.fingerprint);
    if (known !== undefined) return known;
    const key = uuidv7();
    if (call !== undefined) this.#keys.set(call.fingerprint, key);
    return key;
  }
}
