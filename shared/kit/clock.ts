/** What ends a wait: an `AbortSignal`, or an `Ending`, which costs a small part of one. */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The port for time. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Monotonic milliseconds, for leases and timeouts. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: EndSignal): Promise<void>;
}

/**
 * How long until the next beat, ms: whoever looks after something again and again does it on the beat of its process, so that a process with
 * nothing to do wakes a few times a second and not for each of them. The first time it
 * takes a quarter to five quarters of `everyMs`.
 */
export const untilBeat = (clock: Pick<Clock, 'monotonic'>, everyMs: number): number => {
  const leftMs = everyMs - (clock.monotonic() % everyMs);
  // A timer may fire a little before its time.
  return leftMs < everyMs / 4 ? leftMs + everyMs : leftMs;
};

/** The longest delay that `setTimeout` takes: with a longer one it fires at once. */
const longestTimeoutMs = 2 ** 31 - 1;

/** The machine's clock. Chosen only in `main.ts`; tests and the simulator provide their own. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const wait = (leftMs: number): void => {
        timer =
          leftMs > longestTimeoutMs ? setTimeout(wait, longestTimeoutMs, leftMs - longestTimeoutMs) : setTimeout(done, leftMs);
      };
      wait(ms);
      if (signal?.aborted) done();
      else signal?.addEventListener('abort', done, { once: true });
    }),
};
