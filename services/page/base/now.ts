import { signal } from '@preact/signals';

const everyMs = 15_000;

/** The time, for "5 minutes ago" and clocks that run down; ms since 1970. */
export const now = signal(Date.now());

export const keepTime = (): void => {
  setInterval(() => {
    now.value = Date.now();
  }, everyMs);
};
