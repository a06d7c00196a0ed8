import { expect, test } from 'vitest';
import { nextResetOf, nextResetWords } from '../../../services/page/parts/reset-words.ts';

test.each([
  [true, true, 'Resets if nothing is said until'],
  [false, true, 'Daily reset at'],
  [true, false, 'The next message starts afresh: it was idle for too long since'],
  [false, false, 'The next message starts afresh: the daily reset is due since'],
])('the next reset says its rule: idle %s, ahead %s', (isIdle, isAhead, words) => {
  expect(nextResetWords(isIdle, isAhead)).toBe(words);
});

test.each([
  [{}, null],
  [{ idleAt: 7 }, { at: 7, isIdle: true }],
  [
    { dailyAt: 5, idleAt: 7 },
    { at: 5, isIdle: false },
  ],
  [
    { dailyAt: 9, idleAt: 7 },
    { at: 7, isIdle: true },
  ],
])('the next reset of %j is the first', (times, expected) => {
  expect(nextResetOf({ rule: 'x', due: false, timeZone: 'UTC', ...times })).toEqual(expected);
});
