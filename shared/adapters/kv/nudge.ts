import type { Clock } from '../../kit/clock.ts';

/** Waits for a time or a nudge, whichever comes first. A nudge while nobody waits ends the next wait at once. */
export interface Nudge {
  wake(): void;
  wait(ms: number): Promise<void>;
}

export const createNudge = (clock: Clock): Nudge => {
  let nudged = new AbortController();
  return {
    wake: () => nudged.abort(),
    wait: async (ms) => {
      await clock.sleep(ms, nudged.signal);
      nudged = new AbortController();
    },
  };
};
