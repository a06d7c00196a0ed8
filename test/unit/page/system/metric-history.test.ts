import { expect, test } from 'vitest';
import { MetricHistory, type Wanted } from '../../../../services/page/system/metric-history.ts';
import { metricSums } from '../../../../shared/kit/text/metric-sums.ts';

const text = (commits: number): string => `# HELP natter_commits_total Commits.
natter_commits_total{service="session",host="1"} ${commits}
natter_commits_total{service="session",host="2"} 5
natter_queue_messages{queue="commands"} 3
natter_queue_messages{queue="a \\"b\\", c"} 4
natter_broken NaN
`;

const valuesOf = (history: MetricHistory, wanted: Wanted): number[] => history.pointsOf(wanted).map(({ value }) => value);

test('series of one metric are summed, and apart by their labels', () => {
  const sums = metricSums(text(10));
  expect(sums.get('natter_commits_total')).toBe(15);
  expect(sums.get('natter_commits_total host="2"')).toBe(5);
  expect(sums.get('natter_queue_messages queue="commands"')).toBe(3);
  expect(sums.get('natter_queue_messages')).toBe(7);
  expect(sums.has('natter_broken')).toBe(false);
});

test('a rate is the growth of each second, and a counter that began anew has not grown', () => {
  const history = new MetricHistory(4_500);
  for (const [at, commits] of [
    [0, 10],
    [2_000, 30],
    [4_000, 0],
    [5_000, 7],
  ] as const)
    history.add(at, text(commits));
  expect(valuesOf(history, { title: '', metric: 'natter_commits_total', rate: true })).toEqual([0, 7]);
  expect(valuesOf(history, { title: '', metric: 'natter_commits_total' })).toEqual([35, 5, 12]);
  expect(valuesOf(history, { title: '', metric: 'natter_nothing' })).toEqual([]);
});

test('whether a line has no value is known, so that the page explains the sign for it only then', () => {
  const history = new MetricHistory(4_500);
  const [there, rate, missing] = [
    { title: '', metric: 'natter_commits_total' },
    { title: '', metric: 'natter_commits_total', rate: true },
    { title: '', metric: 'natter_dead_letters' },
  ] as const;
  history.add(0, text(10));
  expect([history.lacksAny([there]), history.lacksAny([there, rate])]).toEqual([false, true]);
  history.add(2_000, text(30));
  expect([history.lacksAny([there, rate]), history.lacksAny([there, missing])]).toEqual([false, true]);
});

test('a line begins with what the gateway has kept', () => {
  const history = new MetricHistory(60_000);
  const wanted = { title: '', metric: 'natter_commits_total', rate: true } as const;
  history.add(30_000, text(40));
  expect(valuesOf(history, wanted)).toEqual([]);
  // What came in the meantime is not there twice.
  history.begin({ at: [10_000, 20_000, 30_000], series: { natter_commits_total: [5, 25, 45], natter_late: [null, 1, 2] } });
  expect(history.pointsOf(wanted)).toEqual([
    { at: 20_000, value: 2 },
    { at: 30_000, value: 2 },
  ]);
  expect(valuesOf(history, { title: '', metric: 'natter_late' })).toEqual([1]);
  history.add(75_000, text(40));
  expect(history.pointsOf({ title: '', metric: 'natter_commits_total' }).map(({ at }) => at)).toEqual([20_000, 30_000, 75_000]);
});
