/** Wakes one listener. `rung` resolves once `ring` has been called since it last resolved, or when the signal aborts. */
export const createBell = () => {
  let isRung = false;
  let wake = () => {};
  return {
    ring: (): void => {
      isRung = true;
      wake();
    },
    rung: async (until: AbortSignal): Promise<void> => {
      if (!isRung && !until.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          until.addEventListener('abort', wake);
        });
        until.removeEventListener('abort', wake);
      }
      isRung = false;
    },
  };
};
