import type { Clock, EndSignal } from '../../../shared/kit/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  /** `null` once it has fired or was called off. */
  fire: (() => void) | null;
}

const isBefore = (one: Timer, other: Timer): boolean => one.at < other.at || (one.at === other.at && one.order < other.order);

/** Resolves when no promise has anything left to do: Node takes a tick up only when the queue of microtasks is empty. */
const nothingRunnable = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Time for the simulator. It advances only when nothing else is runnable, from one timer to the next; timers of one moment fire in order. */
export class VirtualClock implements Clock {
  readonly #startedAt: number;
  #now: number;
  #created = 0;
  /** Latest first, so that the next one is at the end. */
  readonly #timers: Timer[] = [];

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
    this.#now = startedAt;
  }

  now(): number {
    return Math.floor(this.#now);
  }
  monotonic(): number {
    return this.#now - this.#startedAt;
  }

  sleep(ms: number, signal?: EndSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const fire = (): void => {
        timer.fire = null;
        signal?.removeEventListener('abort', fire);
        resolve();
      };
      const timer: Timer = { at: this.#now + Math.max(0, ms), order: this.#created++, fire };
      this.#insert(timer);
      signal?.addEventListener('abort', fire);
    });
  }

  /** Lets `ms` pass. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await nothingRunnable();
      const timer = this.#timers.at(-1);
      if (timer === undefined || timer.at > until) break;
      this.#timers.pop();
      if (timer.fire === null) continue;
      this.#now = Math.max(this.#now, timer.at);
      timer.fire();
    }
    this.#now = until;
  }

  #insert(timer: Timer): void {
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(timer, this.#timers[middle] as Timer)) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
  }
}
