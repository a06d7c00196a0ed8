import { expect, test } from 'vitest';
import { type BenchDocument, type Figure, figuresOf, overLimit, worseThan } from '../../bench/document.ts';

const row = (unit: string, value: number, ratio?: number) => ({
  ...{ what: 'turns', unit, value },
  ...(ratio !== undefined && { ratio }),
});
const figures = (...rows: ReturnType<typeof row>[]): Figure[] => figuresOf('gateway', 'always', rows);
const before = (...rows: ReturnType<typeof row>[]): BenchDocument => ({
  ...{ takenAt: '2026-11-23T00:00:00Z', command: 'npm run bench', machine: { processor: 'x', cores: 2, node: '20' } },
  figures: figures(...rows),
});

test.each([
  ['a rate that fell by a tenth', row('/s', 1_000, 0.33), row('/s', 900, 0.3), 0],
  ['a rate that fell by more', row('/s', 1_000, 0.33), row('/s', 800, 0.29), 1],
  ['a rate that rose', row('/s', 1_000, 0.3), row('/s', 2_000, 0.6), 0],
  ['a time that grew by more than a tenth', row('ms', 10, 5), row('ms', 12, 5.6), 1],
  ['a time that shrank', row('ms', 10, 5), row('ms', 5, 2.5), 0],
  ['a slower day: both sides of the ratio', row('/s', 1_000, 0.3), row('/s', 500, 0.3), 0],
  ['no ratio', row('ms', 10), row('ms', 100), 0],
])('%s', (_, old, now, lines) => {
  expect(worseThan(before(old), figures(now))).toHaveLength(lines);
});

test('figures are compared with those of the same scenario and broker', () => {
  const slow = figuresOf('gateway', 'cluster', [row('/s', 10, 0.01)]);
  expect(worseThan(before(row('/s', 1_000, 0.33)), slow)).toEqual([]);
});

test('what could not be measured is null', () => {
  expect(figures(row('ms', Number.NaN))).toMatchObject([{ value: null }]);
});

test.each([
  ['at its limit', 50, 50, 0],
  ['over it', 50.1, 50, 1],
  ['not measured', Number.NaN, 50, 1],
  ['without one', 1e9, undefined, 0],
])('a figure %s', (_, value, atMost, lines) => {
  expect(overLimit('page', [{ ...row('ms', value), ...(atMost !== undefined && { atMost }) }])).toHaveLength(lines);
});
