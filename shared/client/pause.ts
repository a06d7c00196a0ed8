import { backoffMs, jittered } from '../kit/backoff.ts';
import { timerMs } from './limit.ts';

const retries = { firstMs: 250, mostMs: 5_000 };

/** Delay before a retry, in milliseconds: longer after each consecutive failure, with random jitter. */
export const retryMs = (failures: number): number => jittered(backoffMs(retries, failures), Math.random());

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

/** A random id of 128 bits. Unlike `crypto.randomUUID`, this also works on pages without TLS. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
