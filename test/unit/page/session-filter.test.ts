import { expect, test } from 'vitest';
import { sessionFilter } from '../../../services/page/events/session-filter.ts';

/** Which events somebody means who writes into the field of the session. */

const [ann, group, work, other] = ['agent:main:main', 'agent:main:telegram:group:-1', 'agent:main:work', 'agent:main:other'];
const names: Readonly<Record<string, string>> = {
  [ann]: 'Ann',
  [group]: 'Anna and Ben',
  [work]: 'Twice',
  [other]: 'Twice',
};
const keys = Object.keys(names);
const meant = (text: string): unknown => {
  const filter = sessionFilter(text, keys, (key) => names[key] ?? key);
  if (filter.kind === 'some') return keys.filter((key) => filter.fits(key));
  return filter.kind === 'one' ? filter.key : filter.kind;
};

test.each([
  ['all, where nothing is written', ' ', 'all'],
  ['the one of that name, in any case', 'ann', ann],
  ['the one of that key without the agent', 'main', ann],
  ['the one of that key', ann, ann],
  ['one that is not in the list, by its key', 'agent:main:gone', 'agent:main:gone'],
  ['all whose name contains it', 'an', [ann, group]],
  ['all whose key begins so', 'agent:main:t', [group]],
  ['all of that name', 'twice', [work, other]],
  ['none', 'nobody', []],
])('%s', (_, text, expected) => {
  expect(meant(text)).toEqual(expected);
});

test('before the list is read, a whole key', () => {
  expect(sessionFilter(ann, [], (key) => key)).toEqual({ kind: 'one', key: ann });
});
