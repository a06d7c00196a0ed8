/**
 * Runs tasks concurrently until `signal` aborts. When one fails, the signal given to the others aborts as well; the error is
 * thrown once all tasks have ended.
 */
export const runAll = async (
  signal: AbortSignal,
  ...tasks: readonly ((until: AbortSignal) => Promise<void>)[]
): Promise<void> => {
  const failed = new AbortController();
  const until = AbortSignal.any([signal, failed.signal]);
  const guarded = async (task: (until: AbortSignal) => Promise<void>) => {
    try {
      await task(until);
    } catch (error) {
      failed.abort(error);
    }
  };
  await Promise.all(tasks.map(guarded));
  if (failed.signal.aborted) throw failed.signal.reason;
};
