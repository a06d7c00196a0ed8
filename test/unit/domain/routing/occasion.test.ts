import { describe, expect, test } from 'vitest';
import { parseKey, type SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { occasionOf } from '../../../../shared/domain/routing/occasion.ts';
import { sessionCommand } from '../../../../shared/domain/session/commands.ts';
import { type Change, config, occasionIn, receivedAt, routed } from './support.ts';

const random = '[0-9a-f]{12}';
const direct = (id: string) => ({ id, kind: 'direct' });

describe('session ids and sources (A3/41-42)', () => {
  test.each<[rule: string, change: Change, id: RegExp, source: object]>([
    [
      'telegram',
      {},
      RegExp(`^telegram:2026-03-04-${random}$`),
      { kind: 'channel', interactive: true, platform: 'telegram', type: 'group', ids: { telegram_chat_id: '-100123' } },
    ],
    [
      'a direct chat',
      { conversation: direct('42') },
      RegExp(`^telegram:2026-03-04-${random}$`),
      { kind: 'channel', interactive: true, platform: 'telegram', type: 'direct', ids: { telegram_chat_id: '42' } },
    ],
    [
      'discord',
      { channel: 'discord' },
      RegExp(`^discord:2026-03-04-${random}$`),
      { kind: 'channel', interactive: true, platform: 'discord', type: 'group', ids: { discord_channel_id: '-100123' } },
    ],
    [
      'slack',
      { channel: 'slack', conversation: { id: 'C1', kind: 'channel' } },
      RegExp(`^slack:2026-03-04-${random}$`),
      { kind: 'channel', interactive: true, platform: 'slack', type: 'group', ids: { slack_channel_id: 'C1' } },
    ],
    [
      'a thread of slack',
      { channel: 'slack', conversation: { id: 'C1', kind: 'channel', threadId: '17.9' } },
      /^slack:/,
      {
        kind: 'channel',
        interactive: true,
        platform: 'slack',
        type: 'group',
        ids: { slack_channel_id: 'C1', slack_thread_ts: '17.9' },
      },
    ],
    [
      'any other channel',
      { channel: 'irc' },
      RegExp(`^irc:2026-03-04-${random}$`),
      { kind: 'channel', interactive: true, platform: 'irc', type: 'group' },
    ],
    ['the command line', { channel: 'cli', conversation: direct('work') }, /^cli:work$/, { kind: 'cli', interactive: true }],
    ['a device', { channel: 'web', conversation: direct('phone') }, /^web:phone$/, { kind: 'web', interactive: true }],
    [
      'a schedule',
      { channel: 'schedule', conversation: direct('s1') },
      /^schedule:s1$/,
      { kind: 'schedule', interactive: false, triggerId: 's1' },
    ],
    [
      'a job',
      { channel: 'cron', conversation: direct('j1') },
      RegExp(`^cron:2026-03-04-${random}$`),
      { kind: 'schedule', interactive: false, triggerId: 'j1' },
    ],
    [
      'a hook',
      { channel: 'hook', conversation: direct('u1'), sessionKey: 'main' },
      RegExp(`^hook:2026-03-04-${random}$`),
      { kind: 'hook', interactive: false, triggerId: 'u1' },
    ],
    [
      'a node',
      { channel: 'node', conversation: direct('n1') },
      RegExp(`^node:2026-03-04-${random}$`),
      { kind: 'node', interactive: false, triggerId: 'n1' },
    ],
    [
      'a program',
      { channel: 'api', conversation: direct('p') },
      RegExp(`^api:2026-03-04-${random}$`),
      { kind: 'api', interactive: false },
    ],
    [
      'what the connector says',
      { source: { kind: 'mail', interactive: false } },
      /^telegram:/,
      { kind: 'mail', interactive: false, ids: { telegram_chat_id: '-100123' } },
    ],
  ])('A3/41, 42: %s', (_, change, id, source) => {
    const { sessionId, source: found } = occasionIn(change);
    expect(sessionId).toMatch(id);
    expect(found).toEqual(source);
  });

  test('A3/41: the date is that of the message, in UTC, and the rest follows from its id', () => {
    const at = Date.UTC(2025, 11, 31, 23, 59);
    const ids = [{ at }, { at }, { at, id: 'other' }, { at: at + 60_000 }].map((change) => occasionIn(change).sessionId);
    expect(ids[0]).toMatch(/^telegram:2025-12-31-/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
    expect(ids[3]).toBe(ids[0]?.replace('2025-12-31', '2026-01-01'));
  });

  test('A3/41: an id too long for a session id is dated instead', () => {
    expect(occasionIn({ channel: 'web', conversation: direct('x'.repeat(128)) }).sessionId).toMatch(
      RegExp(`^web:2026-03-04-${random}$`),
    );
  });
});

describe('when the session expires (A4/43)', () => {
  test.each<[rule: string, change: Change, session: Change, expiry: object]>([
    [
      'A4/44: daily by default',
      {},
      {},
      { rule: expect.stringMatching(/^session\.reset/), dailyBoundaryAt: Date.UTC(2026, 2, 4, 4) },
    ],
    [
      'A4/51: a direct chat',
      { conversation: direct('1') },
      { resetByType: { dm: { mode: 'idle', idleMinutes: 9 } } },
      { rule: 'session.resetByType.dm', idleMinutes: 9 },
    ],
    [
      'A4/51: a group',
      {},
      { resetByType: { group: { mode: 'idle', idleMinutes: 8 } } },
      { rule: 'session.resetByType.group', idleMinutes: 8 },
    ],
    [
      'A4/51: a thread',
      { conversation: { id: '1', kind: 'group', threadId: '5' } },
      { resetByType: { thread: { mode: 'idle', idleMinutes: 7 } } },
      { rule: 'session.resetByType.thread', idleMinutes: 7 },
    ],
    [
      'A4/52: a channel',
      { conversation: direct('1') },
      { resetByChannel: { telegram: { mode: 'idle', idleMinutes: 6 } } },
      { rule: 'session.resetByChannel.telegram', idleMinutes: 6 },
    ],
    [
      'A4/57: each run of a cron job',
      { channel: 'cron', conversation: direct('j') },
      {},
      { rule: 'isolated cron job', isolated: true },
    ],
  ])('%s', (_, change, session, expiry) => expect(occasionIn(change, { session }).expiry).toEqual(expiry));
});

describe('the occasion of a message that names its session (A3/41)', () => {
  test.each<[key: string, given: object, id: RegExp, source: object]>([
    ['main', { sessionId: 'api:1' }, /^api:1$/, { kind: 'api', interactive: false }],
    ['main', {}, RegExp(`^api:2026-03-04-${random}$`), { kind: 'api', interactive: false }],
    [
      'main',
      { channel: 'telegram', sessionId: 'api:1' },
      /^telegram:2026-03-04-/,
      { kind: 'channel', interactive: true, platform: 'telegram', type: 'direct' },
    ],
    [
      'telegram:group:-1',
      { sessionId: 'api:1' },
      RegExp(`^telegram:2026-03-04-${random}$`),
      { kind: 'channel', interactive: true, platform: 'telegram', type: 'group', ids: { telegram_chat_id: '-1' } },
    ],
    ['cli:work', { sessionId: 'api:1' }, /^cli:work$/, { kind: 'cli', interactive: true }],
    ['cron:j', { sessionId: 'api:1' }, /^cron:2026-03-04-/, { kind: 'schedule', interactive: false, triggerId: 'j' }],
    ['node-n', {}, /^node:2026-03-04-/, { kind: 'node', interactive: false, triggerId: 'n' }],
  ])('A3/41, 42: %s %o', (bare, given, id, source) => {
    const key = `agent:main:${bare}` as SessionKey;
    const occasion = occasionOf(key, config(), { at: receivedAt, ...given });
    expect(occasion.sessionId).toMatch(id);
    expect(occasion.source).toEqual(source);
    expect(occasion.expiry.isolated).toBe(parseKey(key).kind === 'cron' ? true : undefined);
  });

  test.each([`cli:${'w'.repeat(200)}`, `${'x'.repeat(150)}:dm:y`, `cron:${'j'.repeat(200)}`])(
    'A3/41, C8: a key longer than an id makes an id that is accepted',
    (bare) => {
      const occasion = occasionOf(`agent:main:${bare}` as SessionKey, config(), { at: receivedAt, sessionId: 'api:1' });
      expect(sessionCommand.safeParse({ type: 'open_session', ...occasion }).success).toBe(true);
    },
  );

  test('A3/41: two messages are two session ids', () => {
    const key = 'agent:main:irc:group:1' as SessionKey;
    const ids = ['a', 'b', 'a'].map((sessionId) => occasionOf(key, config(), { at: receivedAt, sessionId }).sessionId);
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
  });
});

describe('the same envelope becomes the same command (I2)', () => {
  test('whenever it is routed', () => expect(routed({ at: 1 })).toEqual(routed({ at: 1 })));

  test('ids differ by message, channel and account', () => {
    const ids = [{}, { id: 'telegram:2' }, { channel: 'slack' }, { accountId: 'a' }].map((change) => routed(change).id);
    expect(new Set(ids).size).toBe(4);
  });

  test('carries who, why and when', () => {
    const command = routed({ at: Date.UTC(2026, 0, 2, 3) });
    expect(command).toMatchObject({ at: Date.UTC(2026, 0, 2, 3), actor: 'telegram:42', causationId: 'telegram:1' });
    expect(command.correlationId).toBe(command.id);
    expect(routed().at).toBe(receivedAt);
  });

  test('A4/45: a time that has not come yet counts as that of receipt, or it would keep the session fresh until then', () => {
    expect(routed({ at: receivedAt + 1 })).toEqual(routed({ at: receivedAt }));
    expect(routed({ at: Date.UTC(9000, 0) }).at).toBe(receivedAt);
  });
});
