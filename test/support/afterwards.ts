import { afterAll, beforeAll, onTestFinished } from 'vitest';

/** What a file shares while it is being started. */
let shared: (() => unknown)[] | null = null;

/** Closes something when the current test is over, the last opened first; what a file shares, when the file is. */
export const afterwards = (close: () => unknown): void => {
  if (shared !== null) return void shared.push(close);
  onTestFinished(async () => {
    await close();
  });
};

/** Starts something once for all tests of the file, and closes what it opened after the last one. Call it at the top of the file. */
export const onceForFile = <T>(start: () => Promise<T>): (() => T) => {
  let started: { readonly value: T } | null = null;
  let closing: (() => unknown)[] = [];
  beforeAll(async () => {
    shared = closing = [];
    try {
      started = { value: await start() };
    } finally {
      shared = null;
    }
  });
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });
  return () => {
    if (started === null) throw new Error('what the file shares is not started yet');
    return started.value;
  };
};
