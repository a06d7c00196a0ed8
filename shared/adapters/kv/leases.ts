import { backoffMs } from '../../kit/backoff.ts';
import type { Clock } from '../../kit/clock.ts';
import { Signal } from '../../kit/signal.ts';
import type { Leases } from '../../ports/leases.ts';
import { encode } from '../../wire/codec.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { KeyValue } from './key-value.ts';

/** How long the broker keeps a lease without renewal, and how much earlier its holder considers it lost. */
const ttlMs = 3_000;
const marginMs = 500;
const renewMs = 1_000;
/** How often a waiting member checks without a hint. A hint comes shortly before the write can be read. */
const pollMs = 500;
const settleMs = 30;
const retries = { firstMs: pollMs, mostMs: 10_000 };

/** A lease we hold: the revision that proves it, and the monotonic time until which nobody else can have it. */
interface Lease {
  readonly revision: number;
  readonly until: number;
}

/**
 * Leases in a bucket whose entries expire. Every write is fenced by the previous revision, so one member at a time succeeds; the
 * local monotonic clock ends a lease before the broker can give it to another. It saves work; safety never depends on it (F3).
 * `onError` receives errors of `work` and of the broker.
 */
export const createLeases = (
  bucket: KeyValue,
  clock: Clock,
  onError: (name: string, error: unknown) => void = () => {},
): Leases => ({
  hold: async (name, member, signal, work) => {
    const key = bucketKey('lease', name);
    let failures = 0;

    /** Each write has unique content, so that an ambiguous outcome can be resolved. */
    const claim = async (revision: number, since: number): Promise<Lease | null> => {
      const taken = await bucket.put(key, encode({ member, after: revision }), { fence: { key, revision }, ttlMs });
      return taken === null ? null : { revision: taken, until: since + ttlMs - marginMs };
    };
    const takeIfFree = async (): Promise<Lease | null> => {
      const since = clock.monotonic();
      const { revision, value } = await bucket.read(key);
      return value === null ? claim(revision, since) : null;
    };
    const release = async ({ revision }: Lease): Promise<void> => {
      await bucket.put(key, null, { fence: { key, revision }, ttlMs });
    };
    const report = (error: unknown): null => {
      onError(name, error);
      return null;
    };

    /** Waits for the lease; `null` when `signal` aborts first. */
    const acquire = async (): Promise<Lease | null> => {
      const released = new Signal();
      const endHints = bucket.hint(key, released.notify);
      signal.addEventListener('abort', released.notify, { once: true });
      try {
        while (!signal.aborted) {
          const lease = await takeIfFree().catch(report);
          if (lease !== null) return lease;
          await released.waitAtMost(pollMs, clock);
          await clock.sleep(settleMs, signal);
        }
        return null;
      } finally {
        signal.removeEventListener('abort', released.notify);
        endHints();
      }
    };

    /** Renews until the work is finished or the lease is lost. Resolves with the current lease, or `null` if it is lost. */
    const renew = async (taken: Lease, finished: AbortSignal): Promise<Lease | null> => {
      let lease = taken;
      for (;;) {
        const now = clock.monotonic();
        if (now >= lease.until) return null;
        await clock.sleep(Math.min(renewMs, lease.until - now), finished);
        if (finished.aborted) return lease;
        const since = clock.monotonic();
        const renewed = await within(lease.until - since, claim(lease.revision, since));
        if (renewed === null) return null;
        if (renewed !== 'unknown') lease = renewed;
      }
    };
    /** The answer, or `unknown` when it is late or an error. */
    const within = async (ms: number, answer: Promise<Lease | null>): Promise<Lease | null | 'unknown'> => {
      const answered = new AbortController();
      const late = clock.sleep(Math.max(0, ms), answered.signal).then(() => 'unknown' as const);
      const failed = (error: unknown): 'unknown' => {
        report(error);
        return 'unknown';
      };
      return Promise.race([answer.catch(failed), late]).finally(() => answered.abort());
    };

    /** Does the work while the lease lasts, and then releases it. */
    const serve = async (taken: Lease): Promise<void> => {
      const held = new AbortController();
      const finished = new AbortController();
      const stop = (): void => held.abort();
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      const renewing = renew(taken, finished.signal).finally(stop);
      try {
        if (!signal.aborted) await work(held.signal);
        failures = 0;
      } catch (error) {
        failures++;
        report(error);
      }
      finished.abort();
      signal.removeEventListener('abort', stop);
      const lease = await renewing;
      if (lease !== null) await release(lease).catch(report);
    };

    while (!signal.aborted) {
      const lease = await acquire();
      if (lease === null) return;
      await serve(lease);
      await clock.sleep(backoffMs(retries, failures), signal);
    }
  },
});
