import { expect, test } from 'vitest';
import { type Line, logGroups, timesOf } from '../../../../services/page/log/log-groups.ts';

/** Lines of the log that say the same become one row. */

let number = 0;
const line = (message: string, fields: object = {}, level: Line['level'] = 'info'): Line => ({
  ...{ number: ++number, at: number * 1_000, level, message, fields: { service: 'session', ...fields } },
});
const countsOf = (lines: readonly Line[]): readonly number[] => logGroups(lines).map((group) => group.length);

test('lines that differ in time and ids alone are one group, in order', () => {
  const lines = [1, 2, 3].map((turn) => line('turn failed', { turnId: `t${turn}`, key: `agent:main:${turn}`, tookMs: turn }));
  expect(logGroups(lines)).toEqual([lines]);
});

test.each<[what: string, other: Line]>([
  ['the message', line('turn done')],
  ['the level', line('turn failed', {}, 'warn')],
  ['the service', line('turn failed', { service: 'gateway' })],
  ['what is said in words', line('turn failed', { reason: 'the key was refused' })],
  ['what an error says', line('turn failed', { error: { message: 'no route to host' } })],
])('another line by %s is none of the group', (_, other) => {
  expect(countsOf([line('turn failed'), other, line('turn failed')])).toEqual([1, 1, 1]);
});

test('numbers in what is said, and the places in the code, make no difference', () => {
  const said = (ms: number) =>
    line('late', { reason: `took ${ms} ms`, error: { message: 'timeout', stack: `at x\n at ${ms}.js` } });
  expect(countsOf([said(3), said(4_711)])).toEqual([2]);
});

test('nothing is no group', () => {
  expect(logGroups([])).toEqual([]);
});

test('a group stands at the time of its newest line, and says since when it goes on', () => {
  const [oldest, middle, newest] = [line('late'), line('late'), line('late')];
  const [group] = logGroups([newest, middle, oldest]);
  expect(group && timesOf(group)).toEqual({ last: newest.at, first: oldest.at });
});
