import type { Clock } from '../../../kit/clock.ts';
import type { Membership } from './membership.ts';
import type { Partition } from './partition.ts';

/** How long the work in a partition may take that is to be handed over. */
export const drainMs = 10_000;
const askEveryMs = 50;
/** A message in hand is done before anybody misses it: what takes longer is announced. */
const unannouncedMs = 500;

export interface HandOverRules {
  /** True while this member does something for the partition that another one cannot continue. */
  isBusy(partition: number): boolean;
  /** True for a partition that is this member's again. */
  isWanted(partition: number): boolean;
}

/**
 * Hands partitions over, each as soon as this member is not busy with it. It serves them meanwhile: the others leave them to it as long as its
 * renewals name them.
 */
export class HandOvers<T> {
  readonly #clock: Clock;
  readonly #membership: Membership;
  readonly #rules: HandOverRules;
  readonly #underWay = new Map<number, Promise<void>>();
  readonly #announced = new Set<number>();
  #endBy = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, membership: Membership, rules: HandOverRules) {
    this.#clock = clock;
    this.#membership = membership;
    this.#rules = rules;
  }

  /** From now on every partition goes that is to be handed over, at the latest then, ms of the monotonic clock. */
  endBy(at: number): void {
    this.#endBy = at;
  }

  /** Resolves when the partition is handed over, or is this member's again. */
  handOver(partition: Partition<T>): Promise<void> {
    const { number } = partition;
    const underWay = this.#underWay.get(number) ?? this.#handOver(partition).finally(() => this.#underWay.delete(number));
    this.#underWay.set(number, underWay);
    return underWay;
  }

  async #handOver(partition: Partition<T>): Promise<void> {
    const { number } = partition;
    const until = this.#clock.monotonic() + drainMs;
    const leftMs = (): number => Math.max(0, Math.min(until, this.#endBy) - this.#clock.monotonic());
    const mayGo = (isIdle = true): boolean => !partition.held || leftMs() === 0 || (isIdle && !this.#rules.isBusy(number));
    while (this.#endBy < Number.POSITIVE_INFINITY || !this.#rules.isWanted(number)) {
      if (mayGo() && (await partition.release(Math.min(unannouncedMs, leftMs()), mayGo))) break;
      this.#membership.announceFinishing([...this.#announced.add(number)]);
      await this.#clock.sleep(askEveryMs);
    }
    if (this.#announced.delete(number)) this.#membership.announceFinishing([...this.#announced]);
  }
}
