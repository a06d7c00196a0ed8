import { expect, test } from 'vitest';
import { keptOf, whyKept } from '../../../../services/page/sessions/kept.ts';

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

test('of several sessions it says which are kept', () => {
  expect(keptOf([direct, group, topic])).toEqual([group, topic]);
  expect(keptOf([direct])).toEqual([]);
});
