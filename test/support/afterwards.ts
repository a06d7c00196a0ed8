import { onTestFinished } from 'vitest';

/** Closes something when the current test is over, the last opened first. */
export const afterwards = (close: () => unknown): void =>
  onTestFinished(async () => {
    await close();
  });
