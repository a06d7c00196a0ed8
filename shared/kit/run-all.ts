/**
 * Runs tasks side by side until `signal` aborts. When one fails, the signal the others were given aborts too; its error is thrown once all
 * of them have ended.
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
