import { expect, test } from 'vitest';
import { withPage } from '../../../services/page/sessions/merge-rows.ts';
import type { SessionRow } from '../../../shared/client/main.ts';

/** The list of sessions, as its next page comes. */

const rowsOf = (times: readonly number[]): SessionRow[] => times.map((interactedAt) => ({ interactedAt }) as SessionRow);
const timesOf = (rows: readonly SessionRow[]): number[] => rows.map(({ interactedAt }) => interactedAt);

test.each([
  ['below all others', [9, 8, 7], [6, 5], 0, [9, 8, 7, 6, 5]],
  ['not in the order of what was said', [9, 8, 7], [3, 6], 0, [9, 8, 7, 6, 3]],
  ['with one that belongs higher up', [9, 5, 4], [8, 3], 0, [9, 8, 5, 4, 3]],
  ['with pinned ones above, which stay where they are', [2, 1, 9, 5], [8], 2, [2, 1, 9, 8, 5]],
  ['with nothing', [9], [], 0, [9]],
])('a page %s', (_, rows, more, pinned, expected) => {
  expect(timesOf(withPage(rowsOf(rows), rowsOf(more), pinned))).toEqual(expected);
});

test('a page below all others leaves the objects of a hundred thousand rows alone, and looks at one of them', () => {
  let looks = 0;
  const rows = Array.from({ length: 100_000 }, (_, at) => ({
    get interactedAt() {
      looks += 1;
      return 1_000_000 - at;
    },
  })) as unknown as SessionRow[];
  expect(withPage(rows, rowsOf([3, 2]), 0).length).toBe(100_002);
  expect(looks).toBe(1);
});
