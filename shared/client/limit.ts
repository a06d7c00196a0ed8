/**
 * Combines a caller's signal and a time limit in one signal. Its reason is that of the caller's signal, or `lateness()`. The
 * timer starts at construction. Unlike `AbortSignal.any`, it leaves no listener on a long-lived signal.
 */
export class Limit {
  readonly #over = new AbortController();
  readonly #ms: number;
  readonly #lateness: () => unknown;
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, lateness: () => unknown, outer?: AbortSignal) {
    this.#ms = ms;
    this.#lateness = lateness;
    this.#outer = outer;
    this.begin();
    outer?.addEventListener('abort', this.#stop);
    if (outer?.aborted) this.#stop();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Restarts the timer. */
  begin(): void {
    this.rest();
    this.#timer = setTimeout(() => this.#over.abort(this.#lateness()), timerMs(this.#ms));
  }
  /** Stops the timer until it is restarted. */
  rest(): void {
    clearTimeout(this.#timer);
  }
  /** Stops the timer and removes the listener. */
  end(): void {
    this.rest();
    this.#outer?.removeEventListener('abort', this.#stop);
  }

  readonly #stop = (): void => {
    this.rest();
    this.#over.abort(this.#outer?.reason);
  };
}

/** Limits a delay to the longest that a timer supports, about 24 days. A longer one would fire at once. */
export const timerMs = (ms: number): number => Math.min(ms, 2 ** 31 - 1);

/** Settles as the promise does, or rejects with the signal's reason, whichever comes first. Not every promise takes a signal. */
export const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
