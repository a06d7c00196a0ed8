import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NatterError } from '../../../shared/kit/errors.ts';
import { type HealthCode, HealthProblem, healthCodes, readinessOf } from '../../../shared/kit/health-problem.ts';

const of = (code: HealthCode): HealthProblem => new HealthProblem(code, `because of ${code}`);

test('each code has a row in the table of docs/operate/operations.md', () => {
  const page = readFileSync(new URL('../../../docs/operate/operations.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code]) => code);
  expect(healthCodes.filter((code) => !rows.includes(code))).toEqual([]);
});

test('each code has a fix, unless a problem brings its own', () => {
  for (const code of healthCodes) expect(of(code).fix.length).toBeGreaterThan(10);
  expect(new HealthProblem('broker_unusable', 'too old', 'use a newer one').fix).toBe('use a newer one');
});

test('what cannot be written can still be read', () => {
  const stopped = (changes: boolean) => healthCodes.filter((code) => of(code).stops({ changes }));
  expect(stopped(false)).toEqual(['starting', 'broker_away', 'broker_unusable', 'streams_missing', 'log_went_back']);
  expect(stopped(true).filter((code) => !stopped(false).includes(code))).toEqual([
    ...([
      'leaders_missing',
      'consumers_missing',
      'stream_changed',
      'queue_went_back',
      'storage_full',
      'write_probe_failed',
    ] as const),
  ]);
});

test('readiness keeps the list of messages, adds codes and fixes, and tells each problem once', () => {
  expect(readinessOf([])).toEqual({ status: 'ready', problems: [], details: [] });
  const full = of('storage_full');
  const told = JSON.parse(JSON.stringify(readinessOf([full, of('starting'), full])));
  expect(told).toMatchObject({ status: 'unavailable', problems: ['because of storage_full', 'because of starting'] });
  expect(told.details[0]).toEqual({ code: 'storage_full', message: 'because of storage_full', fix: full.fix });
});

test('I13: work that finds the log shorter than before says so with its code and fix; any other failure is tried again', () => {
  const wentBack = HealthProblem.ofWork('delivery', new NatterError('log_regressed', 'the event log ends at 7'));
  expect(wentBack).toEqual(new HealthProblem('log_went_back', 'delivery: the event log ends at 7'));
  expect(HealthProblem.ofWork('delivery', new Error('no'))).toEqual(new HealthProblem('work_stalled', 'delivery: no'));
});
