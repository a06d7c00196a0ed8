import { expect, test } from 'vitest';
import { changeWords, configValue, originWords } from '../../../../services/page/system/config-words.ts';

/** What the page says of each value of the configuration. */

test.each([
  ['local/large', 'local/large'],
  ['', '""'],
  [4_600, '4600'],
  [true, 'yes'],
  [false, 'no'],
  [[], 'none'],
  [['a', 'b'], '["a","b"]'],
])('the value %j is %s', (value, words) => {
  expect(configValue({ path: 'a.b', value })).toBe(words);
});

test.each([
  [250, '250 ms'],
  [30_000, '30000 ms (30 s)'],
  [90_500, '90500 ms (90.5 s)'],
  [600_000, '600000 ms (10 min)'],
])('%d ms is %s', (value, words) => {
  expect(configValue({ path: 'tools.exec.timeoutMs', value })).toBe(words);
});

test.each([
  ['default', 'the default: you set nothing'],
  ['line 3', 'line 3 of the file'],
  ['NATTER_PORT', 'the variable NATTER_PORT of the environment'],
])('what is from %s', (origin, words) => {
  expect(originWords({ origin })).toBe(words);
});

test('whether a change waits for a start', () => {
  expect(changeWords({ takesEffect: 'at_once' })).toBe('takes effect as soon as the file is saved');
  expect(changeWords({ takesEffect: 'at_start' })).toBe('takes effect after a restart');
});
