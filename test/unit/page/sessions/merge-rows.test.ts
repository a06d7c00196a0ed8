import { expect, test } from 'vitest';
import { rowsOf, withFirstPage, withPage } from '../../../../services/page/sessions/merge-rows.ts';
import type { SessionRow } from '../../../../shared/client/main.ts';

/** The list of sessions, as its next page comes. */

const at = (interactedAt: number): SessionRow => ({ key: `${interactedAt}`, interactedAt }) as SessionRow;

test.each([
  ['below all others', [9, 8, 7], [6, 5], 0, [9, 8, 7, 6, 5]],
  ['not in the order of what was said', [9, 8, 7], [3, 6], 0, [9, 8, 7, 6, 3]],
  ['with one that belongs higher up', [9, 5, 4], [8, 3], 0, [9, 8, 5, 4, 3]],
  ['with pinned ones above, which stay where they are', [2, 1, 9, 5], [8], 2, [2, 1, 9, 8, 5]],
  ['with one that is there already', [9, 8], [8, 7], 0, [9, 8, 7]],
  ['with nothing', [9], [], 0, [9]],
])('a page %s', (_, rows, page, pinned, expected) => {
  const merged = withPage(rowsOf(rows.map(at)), page.map(at), pinned);
  expect(merged.list.map(({ interactedAt }) => interactedAt)).toEqual(expected);
  expect(expected.map((time) => merged.byKey.get(`${time}`))).toEqual(expect.arrayContaining([...merged.list]));
});

test('a page below all others is added to a hundred thousand rows without a copy of them, and looks at one', () => {
  let looks = 0;
  const many = Array.from({ length: 100_000 }, (_, index) => ({
    key: `row ${index}`,
    get interactedAt() {
      looks += 1;
      return 1_000_000 - index;
    },
  })) as unknown as SessionRow[];
  const rows = rowsOf(many);
  const merged = withPage(rows, [at(3), at(2)], 0);
  expect([merged.list.length, looks]).toEqual([100_002, 1]);
  expect([merged === rows, merged.list === rows.list, merged.byKey === rows.byKey]).toEqual([false, true, true]);
});

const said = (interactedAt: number, { key = `${interactedAt}`, updatedAt = interactedAt, pinned = false } = {}): SessionRow =>
  ({ key, interactedAt, updatedAt, settings: { pinned } }) as SessionRow;

test.each([
  ['with a new one', [9, 8, 7, 6].map((at) => said(at)), [], [10, 9, 8].map((at) => said(at)), ['10', '9', '8', '7', '6']],
  [
    'with one that was further down',
    [9, 8, 7, 6].map((at) => said(at)),
    [],
    [said(10, { key: '6' }), said(9)],
    ['6', '9', '8', '7'],
  ],
  ['without one that is gone', [9, 8, 7, 6].map((at) => said(at)), [], [said(9), said(7)], ['9', '7', '6']],
  [
    'with a label on an old one',
    [9, 8, 7, 6].map((at) => said(at)),
    [],
    [said(7, { updatedAt: 20 }), said(9)],
    ['9', '8', '7', '6'],
  ],
  ['with one pinned', [9, 8, 7].map((at) => said(at)), [said(7, { pinned: true })], [said(9)], ['7', '9', '8']],
  ['with one pinned no more', [said(7, { pinned: true }), said(9), said(8)], [], [said(9), said(8), said(7)], ['9', '8', '7']],
  [
    'with one pinned, where they are among the others',
    [9, 8].map((at) => said(at)).concat(said(7, { pinned: true })),
    null,
    [said(9)],
    ['9', '8', '7'],
  ],
  ['of none before', [], [], [said(2), said(3)], ['3', '2']],
])('the first page again, %s', (_, before, pinned, page, expected) => {
  const { list, byKey } = withFirstPage(rowsOf(before), pinned, page);
  expect(list.map(({ key }) => key)).toEqual(expected);
  expect([...byKey.keys()].toSorted()).toEqual(expected.toSorted());
  for (const row of [...(pinned ?? []), ...page]) expect(byKey.get(row.key)).toBe(row);
});
