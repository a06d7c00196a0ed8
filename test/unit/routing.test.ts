import { describe, expect, it } from 'vitest';
import { type Config, configSchema } from '../../shared/config/schema.ts';
import { namesAgent, ownerAside } from '../../shared/routing/group.ts';
import { route } from '../../shared/routing/route.ts';
import { conversationKey, mainSessionKey } from '../../shared/routing/session-key.ts';
import { withoutSilence } from '../../shared/routing/silence.ts';
import { type InboundEnvelope, inboundEnvelope } from '../../shared/wire/envelope.ts';

type Change = Record<string, unknown>;
const receivedAt = Date.UTC(2026, 2, 4, 5);
const config = (change: Change = {}): Config => configSchema.parse(change);
const envelope = (change: Change = {}): InboundEnvelope =>
  inboundEnvelope.parse({
    id: 'telegram:1',
    channel: 'telegram',
    conversation: { id: '-100123', kind: 'group' },
    sender: { id: '42' },
    text: 'hello',
    ...change,
  });
const routed = (change: Change = {}, settings: Change = {}) => {
  const result = route(envelope(change), config(settings), receivedAt);
  if ('unroutable' in result) throw new Error(result.unroutable);
  return result.command;
};
const refused = (change: Change, settings: Change = {}): string => {
  const result = route(envelope(change), config(settings), receivedAt);
  return 'unroutable' in result ? result.unroutable : `routed to ${result.command.key}`;
};
const messageOf = (change: Change, settings: Change = {}) => {
  const { data } = routed(change, settings);
  if (data.type !== 'post_message' && data.type !== 'append_message') throw new Error(data.type);
  return { type: data.type, ...data.message };
};

describe('a conversation has one session key (A3/20, 25, 32, 34)', () => {
  it.each<[string, Change, string]>([
    ['direct', { id: '42', kind: 'direct' }, 'agent:main:main'],
    ['direct in a thread', { id: '42', kind: 'direct', threadId: '7' }, 'agent:main:main'],
    ['group', { id: '-100123', kind: 'group' }, 'agent:main:telegram:group:-100123'],
    ['channel', { id: 'C024BE91L', kind: 'channel' }, 'agent:main:telegram:channel:C024BE91L'],
    ['topic', { id: '-100', kind: 'group', threadId: '5' }, 'agent:main:telegram:group:-100:topic:5'],
    ['byte-exact', { id: '#Ubuntu.Ä+ß@x', kind: 'channel' }, 'agent:main:telegram:channel:#Ubuntu.Ä+ß@x'],
    ['with ":"', { id: '!room:matrix.org', kind: 'group' }, 'agent:main:telegram:group:!room:matrix.org'],
  ])('%s', (_, conversation, key) => expect(routed({ conversation }).key).toBe(key));

  it('the main key and the agent are settings (A3/21)', () => {
    const conversation = { id: '1', kind: 'direct' };
    expect(routed({ conversation }, { agent: { id: 'ada' }, session: { mainKey: 'home' } }).key).toBe('agent:ada:home');
    expect(routed({ conversation, agentId: 'bob' }, { agent: { id: 'ada' } }).key).toBe('agent:bob:main');
  });

  it('two conversations never share a key: all pairs of ids and threads made of ":" and "topic"', () => {
    const parts = ['a', 'topic', 'a:b', 'a:topic', 'topic:a', 'topic:topic', 'a:topic:b', 'b'];
    const seen = new Map<string, string>();
    for (const kind of ['group', 'channel'] as const) {
      for (const id of parts) {
        for (const threadId of [undefined, ...parts]) {
          const result = conversationKey('main', 'irc', { kind, id, threadId });
          if ('problem' in result) continue;
          const conversation = JSON.stringify([kind, id, threadId]);
          expect(seen.get(result.key) ?? conversation).toBe(conversation);
          seen.set(result.key, conversation);
        }
      }
    }
    expect(seen.size).toBe(2 * 5 * 9);
  });

  it.each<[string, Change, Change, RegExp]>([
    ['white space', { conversation: { id: 'a b', kind: 'group' } }, {}, /^conversation: .* contains " "/],
    ['a wildcard', { conversation: { id: 'a*', kind: 'group' } }, {}, /contains "\*"/],
    ['an empty segment', { conversation: { id: 'a:', kind: 'group' } }, {}, /empty segment/],
    ['a topic inside', { conversation: { id: 'a:topic:5', kind: 'group' } }, {}, /^conversation\.id: .*":topic"/],
    ['too long', { conversation: { id: 'ä'.repeat(128), kind: 'group' } }, {}, /longer than 256 bytes/],
    [
      'a main key that imitates',
      { conversation: { id: '1', kind: 'direct' } },
      { session: { mainKey: 'x:group:1' } },
      /^session\.mainKey/,
    ],
    ['a sender too long to be an actor', { sender: { id: 'x'.repeat(256) } }, {}, /^actor: /],
  ])('what cannot be in a key or command is unroutable with a reason: %s', (_, change, settings, reason) => {
    expect(refused(change, settings)).toMatch(reason);
  });

  it('a main key of one segment is a key', () => expect(mainSessionKey('main', 'home')).toEqual({ key: 'agent:main:home' }));
});

describe('the same envelope becomes the same command (I2)', () => {
  it('whenever it is routed', () => {
    const again = route(envelope({ at: 1 }), config(), receivedAt + 99_999);
    expect(again).toEqual({ command: routed({ at: 1 }) });
  });

  it('ids differ by message, channel and account', () => {
    const ids = [{}, { id: 'telegram:2' }, { channel: 'slack' }, { accountId: 'a' }].map((change) => routed(change).id);
    expect(new Set(ids).size).toBe(4);
  });

  it('carries who, why and when (A3/41)', () => {
    const command = routed({ at: Date.UTC(2026, 0, 2, 3) });
    expect(command).toMatchObject({ at: Date.UTC(2026, 0, 2, 3), actor: 'telegram:42', causationId: 'telegram:1' });
    expect(command.correlationId).toBe(command.id);
    expect(command.data).toMatchObject({ sessionId: expect.stringMatching(/^telegram:2026-01-02-[0-9a-f]{12}$/) });
    expect(command.data).toMatchObject({ source: { kind: 'channel', platform: 'telegram', type: 'group' } });
    expect(routed().at).toBe(receivedAt);
  });
});

describe('who makes the agent speak (A6/72–76)', () => {
  const owners = { agent: { owners: ['telegram:42'] } };
  const direct = { conversation: { id: '42', kind: 'direct' } };
  it.each<[string, Change, Change, string, string, string]>([
    ['owner, not addressed (A6/73, 76)', {}, owners, 'post_message', 'owner', `${ownerAside}hello`],
    ['owner, mentioned', { mentioned: true }, owners, 'post_message', 'owner', 'hello'],
    ['owner, directed', { directed: true }, owners, 'post_message', 'owner', 'hello'],
    ['owner, direct chat', direct, owners, 'post_message', 'owner', 'hello'],
    ['other, mentioned (A6/74)', { mentioned: true }, {}, 'post_message', 'participant', 'hello'],
    ['other, directed', { directed: true }, {}, 'post_message', 'participant', 'hello'],
    ['other, named', { text: 'Natter, hi' }, { agent: { names: ['natter'] } }, 'post_message', 'participant', 'Natter, hi'],
    ['other, not addressed (A6/75)', {}, {}, 'append_message', 'participant', 'hello'],
    ['other, direct chat', direct, {}, 'post_message', 'participant', 'hello'],
    ['the same id on another channel is not the owner', { channel: 'slack' }, owners, 'append_message', 'participant', 'hello'],
    [
      'a role in the envelope is not believed',
      { sender: { id: '1', role: 'owner' } },
      {},
      'append_message',
      'participant',
      'hello',
    ],
    ['a program stays one', { sender: { id: '1', role: 'program' } }, {}, 'append_message', 'program', 'hello'],
  ])('%s', (_, change, settings, type, role, text) => {
    expect(messageOf(change, settings)).toMatchObject({ type, text, sender: { role }, messageId: 'telegram:1' });
  });

  it.each([
    ['ubotu: help', true],
    ['ask @UBOTU', true],
    ['ubotus', false],
    ['my_ubotu', false],
    ['', false],
  ])('a name counts as a word of its own: %j', (text, named) => expect(namesAgent(text, ['', 'ubotu', 'a+b'])).toBe(named));
});

describe('where the answer goes', () => {
  const webhooks = { outlets: { webhooks: { telegram: { url: 'http://localhost/hook', secret: 's' } } } };
  it.each<[string, Change, Change, unknown]>([
    ['nowhere without an outlet', {}, {}, undefined],
    ['back, if the channel has a webhook', {}, webhooks, { channel: 'telegram', to: '-100123' }],
    [
      'back to account and thread',
      { accountId: 'b', conversation: { id: '1', kind: 'group', threadId: '5' } },
      webhooks,
      { channel: 'telegram', to: '1', accountId: 'b', threadId: '5' },
    ],
    ['back to the terminal', { channel: 'terminal' }, {}, { channel: 'terminal', to: '-100123' }],
    ['where the envelope says', { deliverTo: { channel: 'x', to: 'y' } }, webhooks, { channel: 'x', to: 'y' }],
    ['not to a name that every object has', { channel: 'constructor' }, {}, undefined],
  ])('%s', (_, change, settings, target) => expect(messageOf(change, settings).deliverTo).toEqual(target));
});

describe('silence (A6/77–79)', () => {
  it.each([
    ['<NO_REPLY>', ''],
    [' <EMPTY_RESPONSE>\n', ''],
    ['<NO_REPLY><NO_REPLY>', ''],
    ['Sure. <NO_REPLY>', 'Sure.'],
    ['  kept as it is ', '  kept as it is '],
    ['<NO_REPLY', '<NO_REPLY'],
  ])('%j is shown as %j', (reply, shown) => expect(withoutSilence(reply)).toBe(shown));
});
