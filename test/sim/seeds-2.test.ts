import { test } from 'vitest';
import { expectClean } from './range.ts';

// Half of the seeds: the two halves run side by side.
test(
  '70 lives of a system with three hosts and a broker in trouble break no invariant (I1 to I7, I10, I11)',
  { timeout: 600_000 },
  () => expectClean(101, 70),
);
