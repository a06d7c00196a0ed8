import { describe, expect, test } from 'vitest';
import { canonicalKey } from '../../../../shared/domain/keys/legacy-key.ts';
import {
  bareKey,
  buildKey,
  chatTypeOf,
  isGroupKey,
  listKindOf,
  type ParsedKey,
  parseKey,
  resetTypeOf,
  type SessionKey,
} from '../../../../shared/domain/keys/session-key.ts';
import { listedKey, shortKey, shownKey, storedKey } from '../../../../shared/domain/keys/shown-key.ts';
import { channelOf } from '../../../../shared/domain/projections/list-channel.ts';

const key = (text: string): SessionKey => text as SessionKey;

describe('a key says what it is (A3/20-41)', () => {
  test.each<[text: string, parts: Omit<ParsedKey, 'agentId'>, list: string, chat: string, reset: string, isGroup: boolean]>([
    ['main', { kind: 'main' }, 'main', 'direct', 'dm', false],
    ['global', { kind: 'global' }, 'main', 'direct', 'dm', false],
    ['unknown', { kind: 'unknown' }, 'other', 'direct', 'dm', false],
    ['dm:42', { kind: 'dm', id: '42' }, 'other', 'direct', 'dm', false],
    ['dm:group:1', { kind: 'dm', id: 'group:1' }, 'other', 'direct', 'dm', false],
    ['irc:dm:@a:b', { kind: 'dm', channel: 'irc', id: '@a:b' }, 'other', 'direct', 'dm', false],
    ['irc:@x:y:dm:42', { kind: 'dm', channel: 'irc', accountId: '@x:y', id: '42' }, 'other', 'direct', 'dm', false],
    ['irc:group:1', { kind: 'group', channel: 'irc', id: '1' }, 'group', 'group', 'group', true],
    ['irc:channel:#x', { kind: 'channel', channel: 'irc', id: '#x' }, 'group', 'channel', 'group', true],
    ['tg:group:-1:topic:5', { kind: 'group', channel: 'tg', id: '-1', threadId: '5' }, 'group', 'thread', 'thread', true],
    ['tg:group:topic', { kind: 'group', channel: 'tg', id: 'topic' }, 'group', 'group', 'group', true],
    ['tg:group:a:topic', { kind: 'group', channel: 'tg', id: 'a:topic' }, 'group', 'group', 'group', true],
    ['group:7', { kind: 'group', id: '7' }, 'group', 'group', 'group', true],
    ['cron:job:1', { kind: 'cron', id: 'job:1' }, 'cron', 'direct', 'dm', false],
    ['hook:u', { kind: 'hook', id: 'u' }, 'hook', 'direct', 'dm', false],
    ['node-n:1', { kind: 'node', id: 'n:1' }, 'node', 'direct', 'dm', false],
    ['cli:work', { kind: 'cli', id: 'work' }, 'other', 'direct', 'dm', false],
    ['web:d', { kind: 'web', id: 'd' }, 'other', 'direct', 'dm', false],
    ['schedule:s', { kind: 'schedule', id: 's' }, 'other', 'direct', 'dm', false],
    ['api:a', { kind: 'api', id: 'a' }, 'other', 'direct', 'dm', false],
    ['something', { kind: 'other', id: 'something' }, 'other', 'direct', 'dm', false],
    ['irc:x', { kind: 'other', id: 'irc:x' }, 'other', 'direct', 'dm', false],
    ['node-', { kind: 'other', id: 'node-' }, 'other', 'direct', 'dm', false],
  ])('A10/104, A4/51, A9/92: agent:ada:%s', (text, parts, list, chat, reset, isGroup) => {
    const full = key(`agent:ada:${text}`);
    const parsed = parseKey(full);
    expect(parsed).toEqual({ agentId: 'ada', ...parts });
    expect(bareKey(full)).toBe(text);
    expect([listKindOf(parsed), chatTypeOf(parsed), resetTypeOf(parsed), isGroupKey(full)]).toEqual([list, chat, reset, isGroup]);
    if (text !== 'group:7') expect(buildKey(parsed)).toEqual({ key: full });
  });

  test('A3/21: the main key is a setting', () => {
    expect(parseKey('agent:main:home', 'home').kind).toBe('main');
    expect(parseKey('agent:main:main', 'home').kind).toBe('other');
  });

  test.each([['x:group:1'], ['unknown'], ['global']])(
    'A3/21, 33: the main key cannot be that of another session: %s',
    (mainKey) => {
      const built = buildKey({ agentId: 'main', kind: 'main' }, mainKey);
      expect('problem' in built && built.problem).toMatch(/session\.mainKey must not/);
    },
  );

  test('an agent may be called agent, and a short key has none', () => {
    expect(parseKey('agent:agent:agent')).toEqual({ agentId: 'agent', kind: 'other', id: 'agent' });
    expect(parseKey('cron:x')).toEqual({ agentId: '', kind: 'cron', id: 'x' });
    expect(bareKey('cron:x')).toBe('cron:x');
  });
});

describe('the channel a list shows (A10/114)', () => {
  const row = { lastRoute: { channel: 'discord', to: '1' }, origin: { provider: 'telegram' } };
  test.each<[text: string, given: Parameters<typeof channelOf>[1], shown: string]>([
    ['irc:group:1', row, 'irc'],
    ['group:1', row, 'telegram'],
    ['main', row, 'discord'],
    ['irc:dm:1', row, 'discord'],
    ['irc:dm:1', { lastRoute: null, origin: {} }, 'irc'],
    ['main', { lastRoute: null, origin: { provider: 'telegram' } }, 'telegram'],
    ['cron:1', row, 'internal'],
    ['hook:1', row, 'internal'],
    ['node-1', row, 'internal'],
    ['main', undefined, 'unknown'],
    ['group:1', { lastRoute: null, origin: {} }, 'unknown'],
  ])('A10/114: %s', (text, given, shown) => expect(channelOf(parseKey(`agent:main:${text}`), given)).toBe(shown));
});

describe('short and older keys become the stored form (C2)', () => {
  const context = { agentId: 'main', mainKey: 'home', scope: 'per-sender' } as const;
  test.each<[rule: string, text: string, more: object, stored: string | RegExp]>([
    ['C2: main', 'main', {}, 'agent:main:home'],
    ['A3/21: the main key itself', 'home', {}, 'agent:main:home'],
    ['A3/22, 40: main under scope global', 'main', { scope: 'global' }, 'agent:main:global'],
    ['A3/40: global', 'global', {}, 'agent:main:global'],
    ['A3/40: unknown', 'unknown', {}, /names no session/],
    ['A3/40: unknown of an agent', 'agent:main:unknown', {}, /names no session/],
    ['D2: a complete key of the main session', 'agent:main:main', {}, 'agent:main:home'],
    ['D2: that of another agent', 'agent:ops:main', {}, 'agent:ops:home'],
    ['D2: exactly this key', 'stored:agent:ops:main', {}, 'agent:ops:main'],
    ['D2: it must be complete', 'stored:main', {}, 'agent:main:stored:main'],
    ['D2: and be a key', 'stored:agent:a b', {}, /contains " "/],
    ['C2: a complete key', 'agent:ada:x:y', { scope: 'global' }, 'agent:ada:x:y'],
    ['C2: an incomplete key', 'agent:ada', {}, /incomplete/],
    ['A3/35: group:<id> with a provider', 'group:1:2', { provider: 'Telegram' }, 'agent:main:telegram:group:1:2'],
    ['A3/35: group:<own channel>:<id>', 'group:telegram:1', { provider: 'telegram' }, 'agent:main:telegram:group:1'],
    ['A3/35: group:<channel>:<id>', 'group:telegram:1:topic:5', {}, 'agent:main:telegram:group:1:topic:5'],
    ['A3/35: group:<id> of WhatsApp', 'group:12036@g.us', {}, 'agent:main:whatsapp:group:12036@g.us'],
    ['A3/35: group:<id> of nobody knows', 'group:12', {}, /has no channel/],
    ['A3/36: <channel>:group:<id>', 'signal:group:x', {}, 'agent:main:signal:group:x'],
    ['A3/32: <channel>:channel:<id>', 'slack:channel:C1', {}, 'agent:main:slack:channel:C1'],
    ['A3/37: cron', 'cron:j', {}, 'agent:main:cron:j'],
    ['A3/38: hook', 'hook:u', {}, 'agent:main:hook:u'],
    ['A3/39: node', 'node-n', {}, 'agent:main:node-n'],
    ['A3/41: cli', 'cli:work', {}, 'agent:main:cli:work'],
    ['A3/41: web', 'web:d', {}, 'agent:main:web:d'],
    ['A3/41: schedule', 'schedule:s', {}, 'agent:main:schedule:s'],
    ['C2: what is no key', 'a b', {}, /contains " "/],
    ['C2: too long with its agent', 'x'.repeat(250), {}, /longer than 256 bytes/],
  ])('%s', (_, text, more, stored) => {
    const result = canonicalKey(text, { ...context, ...more });
    const told = 'key' in result ? result.key : result.problem;
    if (typeof stored === 'string') expect(told).toBe(stored);
    else expect(told).toMatch(stored);
    if ('key' in result) expect(canonicalKey(listedKey(result.key, context), context)).toEqual(result);
  });

  test.each<[stored: string, scope: 'per-sender' | 'global', shown: string, short?: string]>([
    ['agent:main:home', 'per-sender', 'main'],
    ['agent:main:home', 'global', 'agent:main:home'],
    ['agent:main:global', 'global', 'main'],
    ['agent:main:global', 'per-sender', 'agent:main:global', 'global'],
    ['agent:ada:home', 'per-sender', 'agent:ada:home'],
    ['agent:main:main', 'per-sender', 'stored:agent:main:main'],
    ['agent:main:trips', 'per-sender', 'agent:main:trips', 'trips'],
    ['agent:main:irc:group:#a', 'global', 'agent:main:irc:group:#a', 'irc:group:#a'],
    ['agent:main:group:x', 'per-sender', 'agent:main:group:x'],
    ['agent:main:agent:ada:x', 'per-sender', 'agent:main:agent:ada:x'],
    ['agent:main:cron:x', 'per-sender', 'cron:x'],
    ['agent:ada:cron:x', 'per-sender', 'agent:ada:cron:x'],
  ])('A3/40, C2, D1: callers see %s, with scope %s, as %s', (stored, scope, shown, short = shown) => {
    expect(shownKey(key(stored), { ...context, scope })).toBe(shown);
    expect(shortKey(key(stored), { ...context, scope })).toBe(short);
    expect(canonicalKey(short, { ...context, scope })).toEqual({ key: stored });
    expect(canonicalKey(shown, { ...context, scope })).toEqual({ key: stored });
    const listed = listedKey(key(stored), { ...context, scope });
    expect([canonicalKey(listed, { ...context, scope }), storedKey(listed)]).toEqual([{ key: stored }, stored]);
  });
});

test('what a key means depends on session.mainKey, however often and whatever else was asked', () => {
  const ask = () => [
    parseKey('agent:main:home', 'home').kind,
    parseKey('agent:main:home').kind,
    parseKey('agent:main:main').kind,
  ];
  for (let round = 0; round < 3; round++) {
    expect(ask()).toEqual(['main', 'other', 'main']);
    for (let number = 0; number < 5_000; number++) expect(parseKey(`agent:main:irc:dm:${number}`).id).toBe(String(number));
    for (let number = 0; number < 50; number++) expect(parseKey(`agent:main:m${number}`, `m${number}`).kind).toBe('main');
  }
});
