import { describe, expect, test } from 'vitest';
import { eventLine } from '../../../services/cli/event-line.ts';
import { machineTimeZone } from '../../../services/cli/terminal.ts';
import { laterTime, logPlace, timeText, zoneOf } from '../../../services/cli/time.ts';
import type { NatterEvent } from '../../../shared/client/main.ts';

const at = (text: string): number => Date.parse(text);

describe('times for people', () => {
  test.each([
    ['winter time', '2026-11-21T10:00:00Z', 'Europe/Berlin', '2026-11-21T11:00:00+01:00'],
    ['summer time', '2026-07-01T10:00:00Z', 'Europe/Berlin', '2026-07-01T12:00:00+02:00'],
    ['the hour before the clocks go back', '2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25T02:30:00+02:00'],
    ['the same hour on the clock, after that', '2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25T02:30:00+01:00'],
    ['the first minute of summer time', '2026-03-29T01:00:00Z', 'Europe/Berlin', '2026-03-29T03:00:00+02:00'],
    ['another day there', '2026-11-21T23:10:00Z', 'Asia/Kolkata', '2026-11-22T04:40:00+05:30'],
    ['UTC', '2026-11-21T10:00:00Z', 'UTC', '2026-11-21T10:00:00Z'],
  ])('%s', (_, time, zone, expected) => {
    expect(timeText(at(time), zone)).toBe(expected);
    expect(logPlace('--at', timeText(at(time), zone), 0)).toBe(new Date(at(time)).toISOString());
  });

  test('are local, and with --utc in UTC', () => {
    expect(zoneOf({ timeZone: 'Europe/Berlin' }, {})).toBe('Europe/Berlin');
    expect(zoneOf({ timeZone: 'Europe/Berlin' }, { utc: true })).toBe('UTC');
  });

  test('an event line has the local time with its offset', () => {
    const event = {
      id: '7.0',
      at: at('2026-11-21T10:00:00.250Z'),
      key: 'agent:main:main',
      type: 'turn_completed',
    } as NatterEvent;
    expect(eventLine(event, 'Europe/Berlin')).toContain('2026-11-21T11:00:00+01:00');
    expect(eventLine(event, 'UTC')).toContain('2026-11-21T10:00:00Z');
  });

  test.each(['Europe/Berlin', 'Not/AZone', ''])('TZ=%j gives a zone that times can be printed in', (zone) => {
    const before = process.env.TZ;
    try {
      process.env.TZ = zone;
      expect(timeText(0, machineTimeZone())).toMatch(/^1970-01-01T0\d:00:00(Z|\+\d\d:\d\d)$/);
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  test.each([
    ['yesterday', '--at: "yesterday" is not a time; use for example +10m or 1970-01-02T10:00Z'],
    ['-2h', '--at: "-2h" is in the past; use for example +10m or 1970-01-02T10:00Z'],
    ['1969-11-21', '--at: "1969-11-21" is in the past; use for example +10m or 1970-01-02T10:00Z'],
  ])('what is sent later takes no %s', (text, told) => {
    expect(() => laterTime('--at', text, 0)).toThrow(told);
    expect(laterTime('--at', '+10m', 0)).toBe(600_000);
  });

  test('an option that is not a time says its name and what to use', () =>
    expect(() => logPlace('--from', 'soon', 0)).toThrow('--from: "soon" is not a time; use for example 2026-11-21T10:00Z'));
});
