import { timerMs } from './limit.ts';

/** Milliseconds before the first new attempt, and at most. */
const leastMs = 250;
const mostMs = 5_000;

/** How long to wait after so many failures in a row: doubling, and never the same for two, so that a crowd does not come back at once. */
export const backoffMs = (failures: number): number => Math.min(mostMs, leastMs * 2 ** failures) * (0.5 + Math.random() / 2);

/** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, timerMs(ms));
    signal?.addEventListener('abort', done);
  });

/** A unique id of 128 random bits. Unlike `crypto.randomUUID` this works on pages without TLS too. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
