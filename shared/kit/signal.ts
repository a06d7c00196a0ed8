import type { Clock, EndSignal } from './clock.ts';

/** The reason of an abort that nobody looks at. Made once: an error with a stack trace for each costs more than what it ends. */
export const aborted = new DOMException('This operation was aborted', 'AbortError');

/** Wakes one waiter. A notification while nobody waits ends the next wait at once; several count as one. */
export class Signal {
  #isNotified = false;
  #wake = (): void => {};

  /** Bound, so that it can be passed as a callback. */
  readonly notify = (): void => {
    this.#isNotified = true;
    this.#wake();
  };

  /** Resolves once `notify` has been called since the last wait, or when `until` aborts. */
  async wait(until: AbortSignal): Promise<void> {
    if (!this.#isNotified && !until.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        until.addEventListener('abort', this.#wake);
      });
      until.removeEventListener('abort', this.#wake);
    }
    this.#isNotified = false;
  }

  /** Resolves with true once `notify` has been called since the last wait, or with false after `ms`. */
  async waitAtMost(ms: number, clock: Pick<Clock, 'sleep'>): Promise<boolean> {
    const woken = new Ending();
    this.#wake = () => woken.abort();
    if (this.#isNotified) this.#wake();
    await clock.sleep(ms, woken);
    const wasNotified = this.#isNotified;
    this.#isNotified = false;
    return wasNotified;
  }
}

/** Ends what waits for it, once. For what every call has of its own: there an `AbortController` costs more than the wait. */
export class Ending implements EndSignal {
  readonly #listeners = new Set<() => void>();
  #aborted = false;
  #reason: unknown;

  get aborted(): boolean {
    return this.#aborted;
  }
  /** What `abort` was given. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Later calls change nothing. */
  abort(reason?: unknown): void {
    if (this.#aborted) return;
    [this.#aborted, this.#reason] = [true, reason];
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** Called once, if it ends from now on. */
  addEventListener(_: 'abort', listener: () => void): void {
    if (!this.#aborted) this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

const heard = new WeakMap<AbortSignal, Ending>();

/**
 * Calls `listener` once when a signal aborts that many listen to and that lives long, until the function is called that this returns. The
 * signal's own list would be searched for each.
 */
export const whenAborted = (signal: AbortSignal, listener: () => void): (() => void) => {
  const ending = heard.get(signal) ?? new Ending();
  if (!heard.has(signal)) {
    heard.set(signal, ending);
    signal.addEventListener('abort', () => ending.abort(), { once: true });
  }
  ending.addEventListener('abort', listener);
  return () => ending.removeEventListener('abort', listener);
};
