import { vi } from 'vitest';

/** What a test waits for has half a minute, not one second: a slow machine makes nothing red. Where a bound is what is tested, the test says it. */
const { waitFor } = vi;
const patient: typeof waitFor = (callback, options) =>
  waitFor(callback, { timeout: 30_000, ...(typeof options === 'number' ? { timeout: options } : options) });
// Files that share a process share `vi`, and this runs for each of them.
if (waitFor.name !== patient.name) vi.waitFor = patient;
