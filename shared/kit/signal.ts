import type { Clock } from './clock.ts';

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
    const woken = new AbortController();
    // A reason of our own: the default one is an error with a stack trace, which costs more than the wait.
    this.#wake = () => woken.abort('woken');
    if (this.#isNotified) this.#wake();
    await clock.sleep(ms, woken.signal);
    const wasNotified = this.#isNotified;
    this.#isNotified = false;
    return wasNotified;
  }
}
