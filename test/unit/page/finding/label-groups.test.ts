import { expect, test } from 'vitest';
import { groupedByLabel, isHeading } from '../../../../services/page/finding/label-groups.ts';
import type { SessionRow } from '../../../../shared/client/main.ts';

type Row = Pick<SessionRow, 'key' | 'settings'>;
const row = (text: string): Row => {
  const [key = '', ...labels] = text.split(' ');
  return { key, settings: labels.length === 0 ? {} : { labels } } as unknown as Row;
};
const shown = (item: Row | { heading: string | null; count: number }): string =>
  isHeading(item) ? `${item.heading ?? '(none)'}: ${item.count}` : item.key;

test.each([
  ['no sessions', [], []],
  ['sessions without a label', ['a', 'b'], ['(none): 2', 'a', 'b']],
  ['labels in the order of the alphabet', ['a zoo', 'b garden'], ['garden: 1', 'b', 'zoo: 1', 'a']],
  ['each group in the order of the list', ['c zoo', 'a zoo', 'b zoo'], ['zoo: 3', 'c', 'a', 'b']],
  ['those without a label last', ['a', 'b zoo', 'c'], ['zoo: 1', 'b', '(none): 2', 'a', 'c']],
  ['a session with several labels under each', ['a zoo garden', 'b garden'], ['garden: 2', 'a', 'b', 'zoo: 1', 'a']],
  ['a session with a label twice under it once', ['a zoo zoo'], ['zoo: 1', 'a']],
])('B24: grouped by label are %s', (_, rows, expected) => {
  const { list, items, headingAt } = groupedByLabel(rows.map(row));
  const all = Array.from({ length: items.length }, (_, index) => items.at(index)).filter((item) => item !== undefined);
  expect(all.map(shown)).toEqual(expected);
  expect(items.at(items.length)).toBeUndefined();
  expect(list).toEqual([...new Set(all.filter((item) => !isHeading(item)))]);
  const headings = all.map((_, index) => all.slice(0, index + 1).findLast(isHeading)?.heading);
  expect(all.map((_, index) => headingAt(index))).toEqual(headings);
  for (const each of list) expect(items.at(items.findIndex((item) => !isHeading(item) && item.key === each.key))).toBe(each);
  expect(items.findIndex(() => false)).toBe(-1);
});
