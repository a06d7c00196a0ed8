import { expect, test } from 'vitest';
import { medianRows } from '../../bench/document.ts';
import { type History, readHistory, readPage, withTables } from '../../bench/history.ts';

const docs = new URL('../../../docs/develop/', import.meta.url);

test('the tables of the benchmarks page are those of the recorded runs', async () => {
  await expect(withTables(readPage(docs), readHistory(docs))).toMatchFileSnapshot('../../../docs/develop/benchmarks.md');
});

const run = (name: string, value: number, ratio: number): History[number] => ({
  ...{ name, takenAt: '2026-11-23T00:00:00Z', command: 'npm run bench', machine: { processor: 'x', cores: 2, node: '20' } },
  figures: [{ scenario: 'turns', setup: 'always', what: 'turns', value, unit: '/s', ratio, goal: '× 0.5' }],
});
const empty = withTables(
  '# Page\n<!-- Begin of the figures: made by `npm run bench -- --record NAME`. -->\nold\n<!-- End of the figures. -->\n',
  [],
);

test('a figure has a column for each run, the newest first', () => {
  const page = withTables(empty, [run('first', 1_000, 0.3), run('second', 2_000, 0.6)]);
  expect(page).toContain('| figure | goal | second | first |');
  expect(page).toContain('| turns | × 0.5 | 2,000 /s (× 0.60) | 1,000 /s (× 0.30) |');
  expect(page).not.toContain('old');
});

test('a page without a place for the figures is refused', () => {
  expect(() => withTables('# Page', [])).toThrow('no place');
});

test.each([
  ['three rounds', [3, 1, 2], 2],
  ['two rounds', [3, 1], 1],
  ['one round', [3], 3],
])('%s: the median of each row', (_, values, median) => {
  const rounds = values.map((value) => [{ what: 'turns', value, unit: '/s', ratio: value / 10 }]);
  expect(medianRows(rounds)).toEqual([{ what: 'turns', value: median, unit: '/s', ratio: median / 10 }]);
});
