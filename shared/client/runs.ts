import type { Http } from './http.ts';
import { operationAt } from './operation-at.ts';
import { pause, retryMs } from './pause.ts';
import { type ReadOptions, type WriteOptions, writing } from './sessions.ts';
import type { Run, Taken } from './types.ts';

/** How many seconds one call waits; the gateway's limit is 120. */
const longestSeconds = 60;
const overheadMs = 10_000;

/** `/v1/sessions/{key}/runs`: the outcome of runs. */
export const createRuns = (http: Http) => {
  const get = (key: string, runId: string, options: ReadOptions & { readonly wait?: number } = {}): Promise<Run> => {
    const { wait, ...rest } = options;
    return http.call(...operationAt('readRun', { key, runId }), undefined, { ...rest, query: { wait } });
  };
  return {
    get: (key: string, runId: string, options?: ReadOptions) => get(key, runId, options),
    /** Takes a message out of the queue before its turn begins. Rejects with `NatterApiError` of code `not_queued` if it has begun. */
    cancel: (key: string, runId: string, options: WriteOptions = {}): Promise<Taken> =>
      http.call(...operationAt('cancelRun', { key, runId }), undefined, writing(options)),
    /**
     * Resolves with the run once it is over, or with its current state after `timeoutMs` (default: no limit). Keeps asking,
     * whichever replica answers. The run itself does not depend on it.
     */
    wait: async (
      key: string,
      runId: string,
      { timeoutMs = Number.POSITIVE_INFINITY, signal }: Pick<ReadOptions, 'timeoutMs' | 'signal'> = {},
    ): Promise<Run> => {
      const endsAt = performance.now() + timeoutMs;
      for (;;) {
        const patienceMs = Math.max(0, endsAt - performance.now());
        const wait = Math.min(longestSeconds, Math.ceil(patienceMs / 1_000));
        const run = await get(key, runId, { wait, timeoutMs: wait * 1_000 + overheadMs, patienceMs, signal });
        if (run.status === 'ok' || run.status === 'error' || performance.now() >= endsAt) return run;
        // A gateway that is shutting down answers waits at once.
        await pause(retryMs(1), signal);
      }
    },
  };
};
