import { type Inputs, useEffect } from 'preact/hooks';

/**
 * Reads at once and then every `everyMs` (`undefined`: never again), one read at a time, while the page can be seen; begins anew when one
 * of `on` changes. `read` must not throw, and its signal ends with what it was begun for.
 */
export const usePoll = (read: (signal: AbortSignal) => Promise<void>, everyMs: number | undefined, on: Inputs): void => {
  useEffect(() => {
    const controller = new AbortController();
    let isReading = false;
    const poll = async (): Promise<void> => {
      if (isReading) return;
      isReading = true;
      await read(controller.signal);
      isReading = false;
    };
    void poll();
    const timer = everyMs === undefined ? undefined : setInterval(() => !document.hidden && void poll(), everyMs);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, on);
};
