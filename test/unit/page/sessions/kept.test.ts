import { expect, test } from 'vitest';
import { keptWords, whyKept } from '../../../../services/page/sessions/kept.ts';

const [direct, group, topic, channel] = [
  'agent:main:telegram:dm:42',
  'agent:main:telegram:group:-100',
  'agent:main:telegram:group:-100:topic:7',
  'agent:main:discord:channel:9',
];

test.each([
  ['agent:main:main', false],
  [direct, false],
  [group, true],
  [topic, true],
  [channel, true],
])('the page says beforehand whether %s is kept: %s', (key, isKept) => {
  expect(whyKept(key) !== null).toBe(isKept);
});

test.each([
  [[direct], null],
  [[direct, group], '1 session of a group will be kept: its history belongs to everyone in it.'],
  [[group, topic], 'None of them can be deleted: a group’s history belongs to everyone in it.'],
])('of several sessions it says how many are kept: %j', (keys, words) => {
  expect(keptWords(keys)).toBe(words);
});
