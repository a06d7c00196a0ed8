import { expect, test } from 'vitest';
import { nextResetWords } from '../../../services/page/parts/reset-words.ts';

test.each([
  [true, true, 'Resets if nothing is said until'],
  [false, true, 'Daily reset at'],
  [true, false, 'The next message starts afresh: idle since'],
  [false, false, 'The next message starts afresh: the daily reset is due since'],
])('the next reset says its rule: idle %s, ahead %s', (isIdle, isAhead, words) => {
  expect(nextResetWords(isIdle, isAhead)).toBe(words);
});
