import type { Clock } from '../../../kit/clock.ts';
import type { Membership } from './membership.ts';
import type { Partition } from './partition.ts';

/** How long the work in a partition may take that is to be handed over. */
export const drainMs = 10_000;
const askEveryMs = 50;
/** A message in hand is done before anybody misses it: what takes longer is announced. */
const announceAfterMs = 500;

export interface HandOverRules {
  /** True while this member does something for the partition that another one cannot continue. */
  isBusy(partition: number): boolean;
  /** False for a partition that is this member's again. */
  mustGo(partition: number): boolean;
}

/**
 * Hands partitions over, each as soon as this member is not busy with it. It serves them meanwhile: the others leave them to it as long as its
 * renewals name them.
 */
export class HandOvers<T> {
  readonly #clock: Clock;
  readonly #membership: Membership;
  readonly #rules: HandOverRules;
  readonly #waiting = new Map<number, Promise<void>>();
  readonly #announced = new Set<number>();
  #endBy = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, membership: Membership, rules: HandOverRules) {
    this.#clock = clock;
    this.#membership = membership;
    this.#rules = rules;
  }

  /** No hand-over, under way or later, takes longer than until then, ms of the monotonic clock. */
  endBy(at: number): void {
    this.#endBy = at;
  }

  /** Resolves when the partition is handed over, or is this member's again. */
  handOver(partition: Partition<T>): Promise<void> {
    const { number, isReleasing } = partition;
    const waiting = this.#waiting.get(number);
    if (waiting !== undefined) return waiting;
    if (isReleasing || this.#isFree(partition)) return partition.release(this.#leftMs());
    const handedOver = this.#finish(partition);
    this.#waiting.set(number, handedOver);
    return handedOver;
  }

  async #finish(partition: Partition<T>): Promise<void> {
    const { number } = partition;
    const began = this.#clock.monotonic();
    const passed = (): number => this.#clock.monotonic() - began;
    while (!this.#isFree(partition) && passed() < Math.min(drainMs, this.#endBy - began)) {
      if (this.#rules.isBusy(number) || passed() >= announceAfterMs) this.#membership.finish([...this.#announced.add(number)]);
      const next = new AbortController();
      const handled = partition.isHandling ? [partition.idle] : [];
      await Promise.race([...handled, this.#clock.sleep(askEveryMs, next.signal)]);
      next.abort();
    }
    this.#waiting.delete(number);
    const released = this.#rules.mustGo(number) ? partition.release(this.#leftMs()) : null;
    if (this.#announced.delete(number)) this.#membership.finish([...this.#announced]);
    await released;
  }

  /** The message in hand may start what another member cannot continue, so it comes first. */
  #isFree({ held, isHandling, number }: Partition<T>): boolean {
    return !held || (!isHandling && !this.#rules.isBusy(number));
  }

  #leftMs(): number {
    return Math.max(0, Math.min(drainMs, this.#endBy - this.#clock.monotonic()));
  }
}
