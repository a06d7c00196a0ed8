import { afterEach, expect, test } from 'vitest';
import { expiryFor, nextReset } from '../../../../shared/domain/reset/reset.ts';
import { loadConfig } from '../../../../shared/runtime/config/load.ts';

const before = process.env.TZ;
afterEach(() => {
  if (before === undefined) delete process.env.TZ;
  else process.env.TZ = before;
});

/** A host in a zone, with no configuration at all. */
const sessionOn = (zone: string) => {
  process.env.TZ = zone;
  return loadConfig({ env: {}, home: '/nonexistent' }).session;
};

test.each([
  ['UTC', '2026-03-04T04:00:00Z', '2026-03-05T04:00:00Z'],
  ['Asia/Tehran', '2026-03-04T00:30:00Z', '2026-03-05T00:30:00Z'],
  ['America/St_Johns', '2026-03-04T07:30:00Z', '2026-03-05T07:30:00Z'],
])('A4/44: on a host in %s the day of a session ends at 04:00 there', (zone, from, until) => {
  const session = sessionOn(zone);
  const noon = Date.parse('2026-03-04T12:00:00Z');
  expect(session.timeZone).toBe(zone);
  expect(expiryFor(session, { type: 'dm' }, noon)).toMatchObject({ dailyBoundaryAt: Date.parse(from) });
  expect(nextReset(session, { type: 'dm' }, noon, noon).dailyAt).toBe(Date.parse(until));
});
