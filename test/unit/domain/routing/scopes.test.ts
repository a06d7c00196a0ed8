import { describe, expect, test } from 'vitest';
import { type Change, config, keyOf } from './support.ts';

const direct = { id: '42', kind: 'direct' };
const links = { alice: ['telegram:42', 'discord:77', '+4912'], bob: ['telegram:+4912'] };

describe('which session a direct message belongs to', () => {
  test.each<[rule: string, session: Change, change: Change, key: string]>([
    ['A3/20: all direct chats are one session', {}, {}, 'agent:main:main'],
    [
      'A3/20: a thread in a direct chat is no session of its own',
      {},
      { conversation: { ...direct, threadId: '7' } },
      'agent:main:main',
    ],
    ['A3/21: session.mainKey is its name', { mainKey: 'home' }, {}, 'agent:main:home'],
    ['A3/24, 25: dmScope main', { dmScope: 'main' }, { accountId: 'b' }, 'agent:main:main'],
    ['A3/24, 26: dmScope per-peer', { dmScope: 'per-peer' }, {}, 'agent:main:dm:42'],
    ['A3/26: the same id on any channel', { dmScope: 'per-peer' }, { channel: 'signal', accountId: 'b' }, 'agent:main:dm:42'],
    ['A3/24, 27: dmScope per-channel-peer', { dmScope: 'per-channel-peer' }, { accountId: 'b' }, 'agent:main:telegram:dm:42'],
    [
      'A3/24, 28: dmScope per-account-channel-peer',
      { dmScope: 'per-account-channel-peer' },
      { accountId: 'b' },
      'agent:main:telegram:b:dm:42',
    ],
    [
      'A3/28: the account is "default" if none is named',
      { dmScope: 'per-account-channel-peer' },
      {},
      'agent:main:telegram:default:dm:42',
    ],
    [
      'A3/26: the peer is the sender and not the chat',
      { dmScope: 'per-peer' },
      { conversation: { id: 'D9', kind: 'direct' } },
      'agent:main:dm:42',
    ],
    [
      'A3/27: ids are byte-exact',
      { dmScope: 'per-channel-peer' },
      { sender: { id: '@Ann:matrix.org' } },
      'agent:main:telegram:dm:@Ann:matrix.org',
    ],
    [
      'A3/29: a linked person has one session, per-peer',
      { dmScope: 'per-peer', identityLinks: links },
      { channel: 'discord', sender: { id: '77' } },
      'agent:main:dm:alice',
    ],
    ['A3/29: and per-channel-peer', { dmScope: 'per-channel-peer', identityLinks: links }, {}, 'agent:main:telegram:dm:alice'],
    [
      'A3/29: and per-account-channel-peer',
      { dmScope: 'per-account-channel-peer', identityLinks: links },
      { accountId: 'b' },
      'agent:main:telegram:b:dm:alice',
    ],
    ['A3/29: a link is of one channel', { dmScope: 'per-peer', identityLinks: links }, { channel: 'slack' }, 'agent:main:dm:42'],
    [
      'A3/29: an entry without a channel is for all',
      { dmScope: 'per-peer', identityLinks: links },
      { channel: 'signal', sender: { id: '+4912' } },
      'agent:main:dm:alice',
    ],
    [
      'A3/29: the longest prefix wins',
      { dmScope: 'per-peer', identityLinks: links },
      { sender: { id: '+4912' } },
      'agent:main:dm:bob',
    ],
    [
      'A3/29: case counts',
      { dmScope: 'per-peer', identityLinks: { ann: ['irc:Ann'] } },
      { channel: 'irc', sender: { id: 'anN' } },
      'agent:main:dm:anN',
    ],
    [
      'A3/30: several numbers and channels are one conversation',
      {},
      { channel: 'whatsapp', accountId: '+49123' },
      'agent:main:main',
    ],
    ['A3/22, 40: scope global', { scope: 'global', dmScope: 'per-peer' }, {}, 'agent:main:global'],
  ])('%s', (_, session, change, key) => expect(keyOf({ conversation: direct, ...change }, { session })).toBe(key));

  test.each<[rule: string, change: Change, reason: RegExp]>([
    [
      'a stranger cannot take a linked name',
      { sender: { id: 'alice' } },
      /^unroutable: sender\.id: "alice" .* "telegram:alice" to session\.identityLinks/,
    ],
    ['nor spell out an entry', { channel: 'web-chat', sender: { id: 'telegram:42' } }, /^agent:main:web-chat:b:dm:telegram:42$/],
    ['an account that looks like a peer', { accountId: 'dm' }, /^unroutable: sender\.id: .*another conversation/],
    ['an account with a peer inside', { accountId: 'a:dm:b' }, /another conversation/],
    ['an account that looks like a group', { accountId: 'group' }, /another conversation/],
    ['a channel that looks like a scope', { channel: 'dm' }, /another conversation/],
    ['a channel that looks like a node', { channel: 'node-1' }, /another conversation/],
    ['a sender that cannot be in a key', { sender: { id: 'a b' } }, /^unroutable: sender\.id: .*contains " "/],
  ])('A3/29: nobody gets into another session: %s', (_, change, reason) => {
    const session = { dmScope: 'per-account-channel-peer', identityLinks: links };
    expect(keyOf({ conversation: direct, accountId: 'b', ...change }, { session })).toMatch(reason);
  });

  test.each<[what: string, owners: string[], change: Change, key: RegExp]>([
    [
      'from another channel nobody',
      ['telegram:42'],
      { channel: 'irc' },
      /^unroutable: sender\.id: "42" is an owner's id .*"irc:42"/,
    ],
    ['unless they own that one too', ['telegram:42', 'irc:42'], { channel: 'irc' }, /^agent:main:dm:42$/],
    ['from their own channel the owner', ['telegram:42'], {}, /^agent:main:dm:42$/],
    ['other ids as ever', ['telegram:42'], { channel: 'irc', sender: { id: '43' } }, /^agent:main:dm:43$/],
  ])("A3/26, D7: into an owner's session of dmScope per-peer, with session.strict: %s", (_, owners, change, key) => {
    const session = { dmScope: 'per-peer', strict: true };
    expect(keyOf({ conversation: direct, ...change }, { agent: { owners }, session })).toMatch(key);
  });
  test('A3/26: without session.strict dmScope per-peer takes an id on two channels for one person, also the id of an owner', () => {
    const [agent, session] = [{ owners: ['telegram:42'] }, { dmScope: 'per-peer' }];
    expect(keyOf({ conversation: direct, channel: 'irc' }, { agent, session })).toBe('agent:main:dm:42');
  });

  test('A3/31: the default is one session, and the safe scope is a setting', () => {
    expect(config().session).toMatchObject({ scope: 'per-sender', dmScope: 'main', mainKey: 'main' });
  });

  test('the agent is a setting, and an envelope may name another', () => {
    expect(keyOf({ conversation: direct }, { agent: { id: 'ada' } })).toBe('agent:ada:main');
    expect(keyOf({ conversation: direct, agentId: 'bob' }, { agent: { id: 'ada' } })).toBe('agent:bob:main');
  });
});

describe('which session a message to many belongs to', () => {
  test.each<[rule: string, conversation: Change, key: string]>([
    ['A3/32: a group', { id: '-100123', kind: 'group' }, 'agent:main:telegram:group:-100123'],
    ['A3/32: a channel', { id: 'C024BE91L', kind: 'channel' }, 'agent:main:telegram:channel:C024BE91L'],
    ['A3/34: a topic', { id: '-100', kind: 'group', threadId: '5' }, 'agent:main:telegram:group:-100:topic:5'],
    [
      'A3/34: a thread of a channel',
      { id: 'C1', kind: 'channel', threadId: '1712.9' },
      'agent:main:telegram:channel:C1:topic:1712.9',
    ],
    ['A3/32: byte-exact', { id: '#Ubuntu.Ä+ß@x', kind: 'channel' }, 'agent:main:telegram:channel:#Ubuntu.Ä+ß@x'],
    ['A3/32: with ":"', { id: '!room:matrix.org', kind: 'group' }, 'agent:main:telegram:group:!room:matrix.org'],
  ])('%s', (_, conversation, key) => {
    expect(keyOf({ conversation })).toBe(key);
    expect(keyOf({ conversation }, { session: { dmScope: 'per-account-channel-peer', scope: 'per-sender' } }), 'A3/23, 24').toBe(
      key,
    );
  });

  test('A3/33: never the main key, whatever the group is called', () => {
    for (const id of ['main', 'global', 'unknown'])
      expect(keyOf({ conversation: { id, kind: 'group' } })).toBe(`agent:main:telegram:group:${id}`);
  });
  test('A3/22: but the global session is for groups too', () =>
    expect(keyOf({}, { session: { scope: 'global' } })).toBe('agent:main:global'));
  test('A3/23: scope per-sender keeps groups apart', () =>
    expect(keyOf({}, { session: { scope: 'per-sender' } })).toBe('agent:main:telegram:group:-100123'));

  test.each<[string, Change, Change, RegExp]>([
    ['white space', { conversation: { id: 'a b', kind: 'group' } }, {}, /^unroutable: conversation\.id: .* contains " "/],
    ['a wildcard', { conversation: { id: 'a*', kind: 'group' } }, {}, /contains "\*"/],
    ['an empty segment', { conversation: { id: 'a:', kind: 'group' } }, {}, /empty segment/],
    ['a topic inside', { conversation: { id: 'a:topic:5', kind: 'group' } }, {}, /another conversation.*":topic:"/],
    [
      'a channel with the name of a source',
      { channel: 'cron' },
      {},
      /^unroutable: conversation\.kind: the source cron has no groups/,
    ],
    ['a channel that looks like a node', { channel: 'node-1' }, {}, /another conversation/],
    ['a channel with the name of a kind', { channel: 'group' }, {}, /another conversation/],
    ['too long', { conversation: { id: 'ä'.repeat(128), kind: 'group' } }, {}, /longer than 256 bytes/],
    ['a sender too long to be an actor', { sender: { id: 'x'.repeat(256) } }, {}, /^unroutable: sender\.id: /],
  ])('what cannot be in a key or command is unroutable with a reason: %s', (_, change, settings, reason) => {
    expect(keyOf(change, settings)).toMatch(reason);
  });

  test('D3: the longest text of the owner to a group fits: routing adds nothing to it', () => {
    const settings = { agent: { owners: ['telegram:42'] } };
    expect(keyOf({ text: 'x'.repeat(262_144) }, settings)).toBe('agent:main:telegram:group:-100123');
  });
});

describe('sources with sessions of their own', () => {
  const of = (channel: string, change: Change = {}) => ({ channel, conversation: { id: 'x:1', kind: 'direct' }, ...change });
  test.each<[rule: string, change: Change, key: string]>([
    ['A3/37: a cron job', of('cron'), 'agent:main:cron:x:1'],
    ['A3/38: a hook', of('hook'), 'agent:main:hook:x:1'],
    ['A3/38: a hook that sets a key', of('hook', { sessionKey: 'main' }), 'agent:main:main'],
    ['A3/38: or a complete one', of('hook', { sessionKey: 'agent:ada:irc:channel:#x' }), 'agent:ada:irc:channel:#x'],
    ['A3/39: a node', of('node'), 'agent:main:node-x:1'],
    ['A3/39: a node that sets a key', of('node', { sessionKey: 'telegram:group:1' }), 'agent:main:telegram:group:1'],
    ['A3/41: the command line', of('cli'), 'agent:main:cli:x:1'],
    ['A3/41: a device', of('web'), 'agent:main:web:x:1'],
    ['A3/41: a schedule', of('schedule'), 'agent:main:schedule:x:1'],
    [
      'A3/40: unknown is no session',
      of('hook', { sessionKey: 'unknown' }),
      'unroutable: sessionKey: the session key "unknown" names no session; use a real key',
    ],
  ])('%s', (_, change, key) => {
    for (const dmScope of ['main', 'per-peer']) expect(keyOf(change, { session: { dmScope } })).toBe(key);
  });

  test.each<[rule: string, sessionKey: string, key: RegExp]>([
    ['A3/36: group:<id>, the channel inferred', 'group:-7', /^agent:main:telegram:group:-7$/],
    ['A3/35, 36: group:<channel>:<id>', 'group:telegram:-7', /^agent:main:telegram:group:-7$/],
    ['A3/36: <channel>:group:<id>', 'telegram:group:-7', /^agent:main:telegram:group:-7$/],
    ['A3/36: another channel is refused', 'irc:group:-7', /^unroutable: sessionKey: only hooks and nodes/],
    ['A3/36: so is a direct session', 'main', /^unroutable: sessionKey: only hooks and nodes/],
    ['A3/36: and another agent', 'agent:ada:telegram:group:-7', /^unroutable: sessionKey: only hooks and nodes/],
  ])('%s', (_, sessionKey, key) => expect(keyOf({ sessionKey })).toMatch(key));

  test('A3/34, 36: a topic of an older group key', () => {
    const conversation = { id: '-7', kind: 'group', threadId: '5' };
    expect(keyOf({ sessionKey: 'group:-7', conversation })).toBe('agent:main:telegram:group:-7:topic:5');
  });
});
