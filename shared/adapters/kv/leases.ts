import { backoffMs } from '../../kit/backoff.ts';
import { type Clock, untilBeat } from '../../kit/clock.ts';
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
/** A killed broker may bring back a lease that had ended, and never end it: one that nobody renews for so long is free. */
const leftOverMs = 2 * ttlMs;
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
  hold: (name, member, signal, work) =>
    new Candidate({ bucket, clock, key: bucketKey('lease', name), member, signal, report: (error) => onError(name, error) }).run(
      work,
    ),
});

interface CandidateOptions {
  readonly bucket: KeyValue;
  readonly clock: Clock;
  readonly key: string;
  readonly member: string;
  /** Ends the candidacy. */
  readonly signal: AbortSignal;
  report(error: unknown): void;
}

/** A member that waits for one lease, works while it has it, and waits again. */
class Candidate {
  readonly #options: CandidateOptions;
  #failures = 0;
  /** The lease of somebody else, and since when it has not been renewed. */
  #other = { revision: 0, since: 0 };

  constructor(options: CandidateOptions) {
    this.#options = options;
  }

  async run(work: (held: AbortSignal) => Promise<void>): Promise<void> {
    const { signal, clock } = this.#options;
    while (!signal.aborted) {
      const lease = await this.#acquire();
      if (lease === null) return;
      await this.#serve(lease, work);
      await clock.sleep(backoffMs(retries, this.#failures), signal);
    }
  }

  /** Each write has unique content, so that an ambiguous outcome can be resolved. */
  async #claim(revision: number, since: number): Promise<Lease | null> {
    const { bucket, key, member } = this.#options;
    const taken = await bucket.put(key, encode({ member, after: revision }), { fence: { key, revision }, ttlMs });
    return taken === null ? null : { revision: taken, until: since + ttlMs - marginMs };
  }

  async #takeIfFree(): Promise<Lease | null> {
    const { bucket, clock, key } = this.#options;
    const since = clock.monotonic();
    const { revision, value } = await bucket.read(key);
    if (this.#other.revision !== revision) this.#other = { revision, since };
    const isFree = value === null || since - this.#other.since > leftOverMs;
    return isFree ? this.#claim(revision, since) : null;
  }

  async #release({ revision }: Lease): Promise<void> {
    const { bucket, key } = this.#options;
    await bucket.put(key, null, { fence: { key, revision }, ttlMs });
  }

  /** Waits for the lease; `null` when the signal aborts first. */
  async #acquire(): Promise<Lease | null> {
    const { bucket, clock, key, signal } = this.#options;
    const released = new Signal();
    const endHints = bucket.hint(key, released.notify);
    signal.addEventListener('abort', released.notify, { once: true });
    try {
      while (!signal.aborted) {
        const lease = await this.#takeIfFree().catch((error: unknown) => this.#failed(error, null));
        if (lease !== null) return lease;
        await released.waitAtMost(pollMs, clock);
        await clock.sleep(settleMs, signal);
      }
      return null;
    } finally {
      signal.removeEventListener('abort', released.notify);
      endHints();
    }
  }

  /** Renews until the work is finished or the lease is lost. Resolves with the current lease, or `null` if it is lost. */
  async #renew(taken: Lease, finished: AbortSignal): Promise<Lease | null> {
    const { clock } = this.#options;
    let lease = taken;
    for (;;) {
      const now = clock.monotonic();
      if (now >= lease.until) return null;
      await clock.sleep(Math.min(untilBeat(clock, renewMs), lease.until - now), finished);
      if (finished.aborted) return lease;
      const since = clock.monotonic();
      const renewed = await this.#within(lease.until - since, this.#claim(lease.revision, since));
      if (renewed === null) return null;
      if (renewed !== 'unknown') lease = renewed;
    }
  }

  /** The answer, or `unknown` when it is late or an error. */
  async #within(ms: number, answer: Promise<Lease | null>): Promise<Lease | null | 'unknown'> {
    const answered = new AbortController();
    const late = this.#options.clock.sleep(Math.max(0, ms), answered.signal).then(() => 'unknown' as const);
    const known = answer.catch((error: unknown) => this.#failed(error, 'unknown' as const));
    return Promise.race([known, late]).finally(() => answered.abort('answered'));
  }

  /** Does the work while the lease lasts, and then releases it. */
  async #serve(taken: Lease, work: (held: AbortSignal) => Promise<void>): Promise<void> {
    const { signal, report } = this.#options;
    const held = new AbortController();
    const finished = new AbortController();
    const stop = (): void => held.abort();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const renewing = this.#renew(taken, finished.signal).finally(stop);
    try {
      if (!signal.aborted) await work(held.signal);
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      report(error);
    }
    finished.abort('finished');
    signal.removeEventListener('abort', stop);
    const lease = await renewing;
    if (lease !== null) await this.#release(lease).catch(report);
  }

  #failed<T>(error: unknown, outcome: T): T {
    this.#options.report(error);
    return outcome;
  }
}
