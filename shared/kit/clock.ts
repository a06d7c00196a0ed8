/** The port for time. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Monotonic milliseconds, for leases and timeouts. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

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
