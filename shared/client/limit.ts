/**
 * A wish to stop and a limit of time in one signal, which has as its reason that of the wish, or `lateness`. `AbortSignal.any` would leave
 * something behind on a wish that lives long.
 */
export class Limit {
  readonly #over = new AbortController();
  readonly #ms: number;
  readonly #lateness: () => unknown;
  readonly #wish: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins to count at once. */
  constructor(ms: number, lateness: () => unknown, wish?: AbortSignal) {
    this.#ms = ms;
    this.#lateness = lateness;
    this.#wish = wish;
    this.begin();
    wish?.addEventListener('abort', this.#stop);
    if (wish?.aborted) this.#stop();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Counts anew. */
  begin(): void {
    this.rest();
    this.#timer = setTimeout(() => this.#over.abort(this.#lateness()), timerMs(this.#ms));
  }
  /** Does not count until it begins anew. */
  rest(): void {
    clearTimeout(this.#timer);
  }
  /** Leaves nothing behind. */
  end(): void {
    this.rest();
    this.#wish?.removeEventListener('abort', this.#stop);
  }

  readonly #stop = (): void => {
    this.rest();
    this.#over.abort(this.#wish?.reason);
  };
}

/** What a timer can be set to: beyond 24 days it would go off at once. */
export const timerMs = (ms: number): number => Math.min(ms, 2 ** 31 - 1);

/** What a promise comes to, or the reason of the signal, whichever is first: not all that we wait for knows our signal. */
export const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
