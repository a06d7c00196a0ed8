import { expect, test } from 'vitest';
import { fieldTime, nextHour } from '../../../../services/page/writing/local-time.ts';

test.each([
  [new Date(2026, 2, 4, 15, 0), '2026-03-04T15:00'],
  [new Date(2026, 11, 31, 23, 59, 30), '2026-12-31T23:59'],
])('a time as its field has it, by the clock of this machine: %s', (date, expected) => {
  expect(fieldTime(date.getTime())).toBe(expected);
});

test.each([
  [new Date(2026, 2, 4, 15, 10), new Date(2026, 2, 4, 16, 0)],
  [new Date(2026, 2, 4, 15, 50), new Date(2026, 2, 4, 17, 0)],
])('the next full hour after %s is %s, and never a moment away', (now, expected) => {
  expect(nextHour(now.getTime())).toBe(expected.getTime());
});
