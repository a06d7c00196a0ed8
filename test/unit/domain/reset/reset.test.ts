import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import {
  dayAround,
  expiryFor,
  freshness,
  localTime,
  nextReset,
  nextResetByCall,
  nextResetOf,
  policyFor,
} from '../../../../shared/domain/reset/reset.ts';
import { occasionOf } from '../../../../shared/domain/routing/occasion.ts';
import { given as history } from '../../../support/domain/given.ts';

type Given = NonNullable<Parameters<typeof configSchema.parse>[0]>;
const session = (given: Given = {}) => configSchema.parse({ session: given }).session;
const at = (time: string): number => Date.parse(time);
const iso = (time: number): string => new Date(time).toISOString();
const dm = { type: 'dm', channel: 'telegram' } as const;

describe('policy', () => {
  const everything = {
    reset: { atHour: 5 },
    resetByType: { group: { mode: 'idle', idleMinutes: 30 }, thread: { mode: 'daily', atHour: 6, idleMinutes: 10 } },
    resetByChannel: { discord: { mode: 'idle', idleMinutes: 10_080 } },
  };
  test.each([
    ['A4/44: daily at 04:00 without a configuration', {}, dm, 'session.reset (default)', { atHour: 4 }],
    [
      'A4/50: mode, atHour and idleMinutes of session.reset',
      { reset: { mode: 'daily', atHour: 6, idleMinutes: 30 } },
      dm,
      'session.reset',
      { atHour: 6, idleMinutes: 30 },
    ],
    [
      'A4/50: mode idle has no daily reset',
      { reset: { mode: 'idle', idleMinutes: 120 } },
      dm,
      'session.reset',
      { idleMinutes: 120 },
    ],
    ['C4: mode idle without a number is 60 minutes', { reset: { mode: 'idle' } }, dm, 'session.reset', { idleMinutes: 60 }],
    ['C4: mode daily without a number has no idle window', { reset: { mode: 'daily' } }, dm, 'session.reset', { atHour: 4 }],
    ['A4/48: the older idleMinutes alone stays idle only', { idleMinutes: 45 }, dm, 'session.idleMinutes', { idleMinutes: 45 }],
    [
      'A4/48: beside session.reset it is no longer idle only',
      { idleMinutes: 45, reset: {} },
      dm,
      'session.reset',
      { atHour: 4, idleMinutes: 45 },
    ],
    [
      'A4/48: beside resetByType it is no longer idle only',
      { idleMinutes: 45, resetByType: { group: {} } },
      dm,
      'session.reset (default)',
      { atHour: 4, idleMinutes: 45 },
    ],
    [
      'A4/48: a policy with a window of its own keeps it',
      { idleMinutes: 45, reset: { idleMinutes: 5 } },
      dm,
      'session.reset',
      { atHour: 4, idleMinutes: 5 },
    ],
    [
      'A4/51: the type beats session.reset',
      everything,
      { type: 'group', channel: 'telegram' },
      'session.resetByType.group',
      { idleMinutes: 30 },
    ],
    [
      'A4/51: a thread has its own type',
      everything,
      { type: 'thread', channel: 'telegram' },
      'session.resetByType.thread',
      { atHour: 6, idleMinutes: 10 },
    ],
    ['A4/51: a type without an override has session.reset', everything, dm, 'session.reset', { atHour: 5 }],
    [
      'A4/51: a thread does not inherit the override of groups',
      { reset: {}, resetByType: { group: { mode: 'idle' } } },
      { type: 'thread' },
      'session.reset',
      { atHour: 4 },
    ],
    [
      'A4/52: the channel beats type and session.reset',
      everything,
      { type: 'group', channel: 'discord' },
      'session.resetByChannel.discord',
      { idleMinutes: 10_080 },
    ],
    [
      'A4/52: for all types',
      everything,
      { type: 'dm', channel: 'discord' },
      'session.resetByChannel.discord',
      { idleMinutes: 10_080 },
    ],
    [
      'A4/52: for threads too',
      everything,
      { type: 'thread', channel: 'discord' },
      'session.resetByChannel.discord',
      { idleMinutes: 10_080 },
    ],
    [
      'A4/52: it beats the older idleMinutes',
      { idleMinutes: 45, resetByChannel: { discord: {} } },
      { type: 'dm', channel: 'discord' },
      'session.resetByChannel.discord',
      { atHour: 4 },
    ],
    [
      'A4/52: a channel is no property of every object',
      everything,
      { type: 'dm', channel: 'constructor' },
      'session.reset',
      { atHour: 5 },
    ],
  ] as const)('%s', (_, given, place, rule, policy) => {
    expect(policyFor(session(given), place)).toEqual({ rule, policy });
  });
});

describe('daily boundary', () => {
  test.each([
    // Zone, hour, now, last boundary, next boundary.
    ['A4/45: the hour itself begins the day', 'UTC', 4, '2026-05-05T04:00:00Z', '2026-05-05T04:00:00Z', '2026-05-06T04:00:00Z'],
    [
      'A4/45: before the hour it is still yesterday',
      'UTC',
      4,
      '2026-05-05T03:59:59.999Z',
      '2026-05-04T04:00:00Z',
      '2026-05-05T04:00:00Z',
    ],
    [
      'A4/44: local time of the zone',
      'Asia/Kathmandu',
      4,
      '2026-05-05T12:00:00Z',
      '2026-05-04T22:15:00Z',
      '2026-05-05T22:15:00Z',
    ],
    [
      'F16: the night without 02:30 in New York',
      'America/New_York',
      4,
      '2026-03-08T12:00:00Z',
      '2026-03-08T08:00:00Z',
      '2026-03-09T08:00:00Z',
    ],
    [
      'F16: the day that is 23 hours long',
      'America/New_York',
      4,
      '2026-03-08T07:30:00Z',
      '2026-03-07T09:00:00Z',
      '2026-03-08T08:00:00Z',
    ],
    [
      'F16: the day that is 25 hours long',
      'America/New_York',
      4,
      '2026-11-01T08:59:00Z',
      '2026-10-31T08:00:00Z',
      '2026-11-01T09:00:00Z',
    ],
    [
      'F16: a skipped hour is at the first instant after the gap',
      'America/New_York',
      2,
      '2026-03-08T08:00:00Z',
      '2026-03-08T07:00:00Z',
      '2026-03-09T06:00:00Z',
    ],
    [
      'F16: of a repeated hour the first counts',
      'America/New_York',
      1,
      '2026-11-01T05:30:00Z',
      '2026-11-01T05:00:00Z',
      '2026-11-02T06:00:00Z',
    ],
    [
      'F16: and the second is no new day',
      'America/New_York',
      1,
      '2026-11-01T06:30:00Z',
      '2026-11-01T05:00:00Z',
      '2026-11-02T06:00:00Z',
    ],
    [
      'F16: Lord Howe skips half an hour',
      'Australia/Lord_Howe',
      2,
      '2026-10-04T00:00:00Z',
      '2026-10-03T15:30:00Z',
      '2026-10-04T15:00:00Z',
    ],
    [
      'F16: Lord Howe repeats half an hour',
      'Australia/Lord_Howe',
      1,
      '2026-04-04T15:15:00Z',
      '2026-04-04T14:00:00Z',
      '2026-04-05T14:30:00Z',
    ],
    [
      'F16: a gap that begins within the hour before',
      'America/St_Johns',
      1,
      '2010-03-14T12:00:00Z',
      '2010-03-14T03:31:00Z',
      '2010-03-15T03:30:00Z',
    ],
    [
      'F16: a clock set back over midnight has shown the hour already',
      'America/St_Johns',
      0,
      '2010-11-07T03:00:00Z',
      '2010-11-07T02:30:00Z',
      '2010-11-08T03:30:00Z',
    ],
    ['F16: a day that was left out', 'Pacific/Apia', 4, '2011-12-30T13:00:00Z', '2011-12-30T10:00:00Z', '2011-12-30T14:00:00Z'],
  ])('%s', (_, zone, atHour, now, from, until) => {
    const day = dayAround(at(now), atHour, zone);
    expect([iso(day.from), iso(day.until)]).toEqual([iso(at(from)), iso(at(until))]);
  });

  test('A4/44: a time of the wire may have a fraction', () => {
    expect(dayAround(at('2026-05-05T04:00:00Z') + 0.5, 4, 'UTC').from).toBe(at('2026-05-05T04:00:00Z'));
  });
});

describe('expiry', () => {
  const berlin = session({
    timeZone: 'Europe/Berlin',
    reset: { atHour: 4, idleMinutes: 30 },
    resetByType: { group: { mode: 'idle' } },
  });

  test('A4/43: a message carries the rule, the boundary and the idle window', () => {
    const expiry = { rule: 'session.reset', dailyBoundaryAt: at('2026-03-29T02:00:00Z'), idleMinutes: 30 };
    expect(expiryFor(berlin, dm, at('2026-03-29T12:00:00Z'))).toEqual(expiry);
    expect(expiryFor(berlin, { type: 'group' }, 5)).toEqual({ rule: 'session.resetByType.group', idleMinutes: 60 });
  });

  test('A4/51, 52: it is that of the place, by type and channel, as policyFor says', () => {
    const byMinutes = (idleMinutes: number) => ({ mode: 'idle', idleMinutes });
    const given = session({
      resetByType: { dm: byMinutes(1), group: byMinutes(2), thread: byMinutes(3) },
      resetByChannel: { discord: byMinutes(4) },
    });
    for (const type of ['dm', 'group', 'thread'] as const) {
      for (const channel of [undefined, 'telegram', 'discord', 'constructor']) {
        const { rule, policy } = policyFor(given, { type, channel });
        expect(expiryFor(given, { type, channel }, 5)).toEqual({ rule, ...policy });
      }
    }
  });

  test('A4/45: what it remembers does not outlive the day, in either direction', () => {
    const times = [
      '2026-03-28T12:00:00Z',
      '2026-03-29T01:59:59.999Z',
      '2026-03-29T02:00:00Z',
      '2026-03-28T13:00:00Z',
      '2026-03-30T02:00:00Z',
    ];
    const remembered = times.map((time) => expiryFor(berlin, dm, at(time)).dailyBoundaryAt);
    expect(remembered).toEqual(times.map((time) => dayAround(at(time), 4, 'Europe/Berlin').from));
    expect(new Set(remembered).size).toBe(3);
  });

  test('A4/45: before the first reset time of 1970 nothing is stale', () => {
    expect(expiryFor(session(), dm, 100)).toEqual({ rule: 'session.reset (default)', dailyBoundaryAt: 0 });
  });
});

describe('freshness', () => {
  const rule = (policy: { atHour?: number; idleMinutes?: number }) => ({ rule: 'session.reset', policy });
  const boundary = at('2026-05-05T04:00:00Z');
  const minute = 60_000;
  test.each([
    ['A4/45: stale once the last update is earlier than the boundary', { atHour: 4 }, boundary - 1, boundary, 'daily', boundary],
    ['A4/45: fresh when it is at the boundary', { atHour: 4 }, boundary, boundary + minute, null, 0],
    ['A4/45: fresh as long as no boundary passes', { atHour: 4 }, boundary, boundary + 1_439 * minute, null, 0],
    ['A4/46: fresh to the end of the idle window', { idleMinutes: 10 }, boundary, boundary + 10 * minute, null, 0],
    ['A4/46: stale after it', { idleMinutes: 10 }, boundary, boundary + 10 * minute + 1, 'idle', boundary + 10 * minute],
    ['A4/46: idle alone knows no boundary', { idleMinutes: 10_000 }, boundary - 1, boundary + minute, null, 0],
    [
      'A4/47: the idle window ends first',
      { atHour: 4, idleMinutes: 10 },
      boundary - 20 * minute,
      boundary + minute,
      'idle',
      boundary - 10 * minute,
    ],
    [
      'A4/47: the boundary comes first',
      { atHour: 4, idleMinutes: 10 },
      boundary - minute,
      boundary + 30 * minute,
      'daily',
      boundary,
    ],
    ['A4/47: neither', { atHour: 4, idleMinutes: 10 }, boundary, boundary + minute, null, 0],
  ] as const)('%s', (_, policy, lastUpdateAt, now, trigger, boundaryAt) => {
    const expected =
      trigger === null ? { fresh: true } : { fresh: false, cause: { trigger, rule: 'session.reset', boundaryAt, lastUpdateAt } };
    expect(freshness(rule(policy), lastUpdateAt, now, 'UTC')).toEqual(expected);
  });
});

describe('next reset', () => {
  const given = session({ timeZone: 'America/New_York', reset: { atHour: 4, idleMinutes: 90 } });
  const used = at('2026-03-08T06:00:00Z');
  const expected = { rule: 'session.reset', dailyAt: at('2026-03-08T08:00:00Z'), idleAt: at('2026-03-08T07:30:00Z') };
  test('A4/45–47: the first boundary after the last use, and the end of the idle window', () => {
    expect(nextReset(given, dm, used, used)).toEqual({ ...expected, due: false });
  });
  test('A4/43: due when it has passed, since only a message resets', () => {
    expect(nextReset(given, dm, used, used + 91 * 60_000)).toEqual({ ...expected, due: true });
  });
  test.each([
    ['A4/51: of a group', 'agent:main:telegram:group:-100', {}, 30],
    ['A4/52: of a channel, by the key', 'agent:main:discord:channel:9', {}, 33],
    ['A4/52: of the channel of its last message', 'agent:main:main', { lastRoute: { channel: 'discord', to: '9' } }, 33],
    ['A4/50: of all the others', 'agent:main:main', {}, 60],
  ])('the rule of a session in the index is that %s', (_, key, more, minutes) => {
    const row = {
      key: key as SessionKey,
      generation: 1,
      interactedAt: 0,
      activeTurnId: null,
      lastRoute: null,
      origin: {},
      ...more,
    };
    const policies = session({
      reset: { mode: 'idle' },
      resetByType: { group: { mode: 'idle', idleMinutes: 30 } },
      resetByChannel: { discord: { mode: 'idle', idleMinutes: 33 } },
    });
    expect(nextResetOf(row, policies, 0)).toMatchObject({ idleAt: minutes * 60_000, due: false, timeZone: 'UTC' });
    expect(nextResetOf(row, policies, minutes * 60_000 + 1).due).toBe(true);
    expect(nextResetOf({ ...row, activeTurnId: 't1' }, policies, minutes * 60_000 + 1).due).toBe(false);
  });
  test.each([
    ['not of the channel of its last message', 'agent:main:main', 60],
    ['of a channel, by the key', 'agent:main:discord:dm:9', 33],
    ['of a thread, by the key', 'agent:main:slack:channel:C1:topic:7', 21],
    ['not of a thread that its last message was in', 'agent:main:dm:ann', 60],
  ])('A4/52: the rule of a call is that %s, as of the message that it sends', (_, name, minutes) => {
    const key = name as SessionKey;
    const lastRoute = { channel: 'discord', to: '9' };
    const row = { key, generation: 1, interactedAt: 0, activeTurnId: null, lastRoute, origin: { threadId: '7' } };
    const config = configSchema.parse({
      session: {
        reset: { mode: 'idle' },
        resetByType: { thread: { mode: 'idle', idleMinutes: 21 } },
        resetByChannel: { discord: { mode: 'idle', idleMinutes: 33 } },
      },
    });
    const { rule } = occasionOf(key, config, { at: 0 }).expiry;
    expect(nextResetByCall(row, config.session, 0)).toMatchObject({ rule, idleAt: minutes * 60_000, due: false });
  });
  test('none where only a chat command was answered, and no message came', () => {
    const row = {
      key: 'agent:main:main' as SessionKey,
      generation: 0,
      interactedAt: 0,
      activeTurnId: null,
      lastRoute: null,
      origin: {},
    };
    expect(nextResetOf(row, given, used)).toEqual({ rule: 'session.reset', due: false, timeZone: 'America/New_York' });
  });
  test('A4/57: every message of a cron job resets', () => {
    const key = 'agent:main:cron:x' as SessionKey;
    const row = { key, generation: 1, interactedAt: 0, activeTurnId: null, lastRoute: null, origin: {} };
    expect(nextResetOf(row, given, 0)).toEqual({ rule: 'isolated cron job', due: true, timeZone: 'America/New_York' });
  });
  test('A4/44: as people read it', () => {
    expect(localTime(expected.dailyAt, 'America/New_York')).toBe('2026-03-08 04:00 America/New_York');
  });
});

describe('a session', () => {
  const minute = 60_000;
  const reset = ['checkpoint_requested new_session s1 1-1', 'session_reset s1 to s2 g2'];

  test('A4/49: the first message after the idle window gets a new session id', () => {
    history('append m1 @0')
      .when(`post-under m2 s2 idle 10 @${10 * minute + 1}`)
      .then(...reset, 'user_message m2 for a turn', 'turn_started m2/1');
  });
  test('A4/49: the last one within it does not', () => {
    history('append m1 @0')
      .when(`post-under m2 s2 idle 10 @${10 * minute}`)
      .then('user_message m2 for a turn', 'turn_started m2/1');
  });
  test('A4/56: a key that was deleted begins anew with its next message', () => {
    history('append m1', 'delete key').when('append m2').then('session_opened s1#2 g2', 'user_message m2');
  });
});
