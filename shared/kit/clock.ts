/** The port for time: whatever needs the time is given a clock. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Milliseconds that never go back: for leases and timeouts. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that `setTimeout` takes: it fires at once after a longer one. */
const longestTimeoutMs = 2 ** 31 - 1;

/** The machine's clock. Chosen in `main.ts` only; tests and the simulator bring their own. */
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
