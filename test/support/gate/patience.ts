import { vi } from 'vitest';

/** What a test waits for has ten seconds, not one: a slow machine makes nothing red. Where a bound is what is tested, the test says it. */
const { waitFor } = vi;
const patient: typeof waitFor = (callback, options) =>
  waitFor(callback, { timeout: 10_000, ...(typeof options === 'number' ? { timeout: options } : options) });
// Files that share a process share `vi`, and this runs for each of them.
if (waitFor.name !== patient.name) vi.waitFor = patient;
