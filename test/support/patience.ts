import { vi } from 'vitest';

/** What a test waits for has ten seconds, not one: a slow machine makes nothing red. Where a bound is what is tested, the test says it. */
const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, { timeout: 10_000, ...(typeof options === 'number' ? { timeout: options } : options) });
