import { LRUCache } from 'lru-cache';
import type { Clock } from '../kit/clock.ts';
import { NatterError } from '../kit/errors.ts';
import { limits } from '../kit/limits.ts';

/** What is left of a caller's rate, and when that was counted, by the monotonic clock. */
interface Left {
  readonly count: number;
  readonly at: number;
}

/** The time in which a rate is counted. */
const spans = { minute: 60_000, hour: 3_600_000 } as const;

/** A token bucket for each name: so many a minute or an hour, in a burst or one by one. Names unused for long are forgotten (I11). */
export class RateLimit {
  readonly #clock: Clock;
  readonly #most: () => number;
  readonly #what: string;
  readonly #span: keyof typeof spans;
  readonly #left = new LRUCache<string, Left>({ max: limits.rateNames });

  /** `what` there is too much of; the error message begins with it. */
  constructor(clock: Clock, most: () => number, what: string, span: keyof typeof spans = 'minute') {
    this.#clock = clock;
    this.#most = most;
    this.#what = what;
    this.#span = span;
  }

  /** Throws `NatterError('overloaded')` where nothing is left. */
  check(name: string): void {
    const { count } = this.#now(name);
    if (count >= 1) return;
    const most = this.#most();
    const retryAfterMs = Math.ceil(((1 - count) * spans[this.#span]) / most);
    const rate = `${most} ${this.#span === 'hour' ? 'an' : 'a'} ${this.#span}`;
    throw new NatterError('overloaded', `${this.#what}, more than ${rate}; try again later`, { retryAfterMs });
  }

  /** The same, and counts one. */
  take(name: string): void {
    this.check(name);
    const { count, at } = this.#now(name);
    this.#left.set(name, { count: count - 1, at });
  }

  #now(name: string): Left {
    const [at, most] = [this.#clock.monotonic(), this.#most()];
    const before = this.#left.get(name) ?? { count: most, at };
    return { count: Math.min(most, before.count + ((at - before.at) * most) / spans[this.#span]), at };
  }
}
