import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';

/** What is left of a caller's rate, and when that was counted, by the monotonic clock. */
interface Left {
  readonly count: number;
  readonly at: number;
}

/** A token bucket for each name: so many a minute, in a burst or one by one. Names unused for long are forgotten (I11). */
export class RateLimit {
  readonly #clock: Clock;
  readonly #perMinute: () => number;
  readonly #what: string;
  readonly #left = new LRUCache<string, Left>({ max: limits.rateNames });

  /** `what` there is too much of; the error message begins with it. */
  constructor(clock: Clock, perMinute: () => number, what: string) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#what = what;
  }

  /** Throws `NatterError('overloaded')` where nothing is left. */
  check(name: string): void {
    const { count } = this.#now(name);
    if (count >= 1) return;
    const perMinute = this.#perMinute();
    const retryAfterMs = Math.ceil(((1 - count) * 60_000) / perMinute);
    throw new NatterError('overloaded', `${this.#what}, more than ${perMinute} a minute; try again later`, { retryAfterMs });
  }

  /** The same, and counts one. */
  take(name: string): void {
    this.check(name);
    const { count, at } = this.#now(name);
    this.#left.set(name, { count: count - 1, at });
  }

  #now(name: string): Left {
    const [at, perMinute] = [this.#clock.monotonic(), this.#perMinute()];
    const before = this.#left.get(name) ?? { count: perMinute, at };
    return { count: Math.min(perMinute, before.count + ((at - before.at) * perMinute) / 60_000), at };
  }
}
