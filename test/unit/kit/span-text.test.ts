import { expect, test } from 'vitest';
import { spanText } from '../../../shared/kit/text/span-text.ts';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
test.each([
  [-second, '0 s'],
  [59.4 * second, '59 s'],
  [minute, '1 min'],
  [59.4 * minute, '59 min'],
  [59.6 * minute, '1 h'],
  [hour + 5 * minute, '1 h 5 min'],
  [12 * hour - second, '12 h'],
  [4 * day, '4 d'],
])('%i ms are %s', (ms, expected) => {
  expect(spanText(ms)).toBe(expected);
});
