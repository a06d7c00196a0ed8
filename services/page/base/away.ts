import type { Signal } from '@preact/signals';

const everyMs = 500;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isAlive = async (signal: AbortSignal | undefined): Promise<boolean> => {
  try {
    return (await fetch('/livez', { ...(signal && { signal }), cache: 'no-store' })).ok;
  } catch {
    return false;
  }
};

/** Resolves once a gateway answers. */
export const gatewayBack = async (signal?: AbortSignal): Promise<void> => {
  do await pause(everyMs);
  while (!signal?.aborted && !(await isAlive(signal)));
};

/** What a stream calls while it waits: the reason is shown until a gateway answers again, which is told. */
export const away = (shown: Signal<string | null>, signal: AbortSignal, isBack = () => {}): ((reason: string) => void) => {
  let isAsking = false;
  return (reason) => {
    shown.value = reason;
    if (isAsking) return;
    isAsking = true;
    void (async () => {
      await gatewayBack(signal);
      shown.value = null;
      isBack();
      isAsking = false;
    })();
  };
};
