import { describe, expect, test } from 'vitest';
import { nameFinder } from '../../../../shared/domain/routing/group.ts';
import { withoutSilence } from '../../../../shared/domain/values/silence.ts';
import { type Change, messageOf, outcome, routed } from './support.ts';

const owners = { agent: { owners: ['telegram:42'] } };
const quiet = { ...owners, channels: { telegram: { ownerTriggers: false } } };
const named = { agent: { names: ['natter'] } };
const direct = { conversation: { id: '42', kind: 'direct' } };

describe('who makes the agent speak (A6/72-76)', () => {
  test.each<[string, Change, Change, string, string, string]>([
    ['A6/73, 76: owner, not addressed', {}, owners, 'post_message', 'owner', 'hello'],
    ['A6/73: owner, mentioned', { mentioned: true }, owners, 'post_message', 'owner', 'hello'],
    ['A6/73: owner, directed', { directed: true }, owners, 'post_message', 'owner', 'hello'],
    ['A6/73: owner, direct chat', direct, owners, 'post_message', 'owner', 'hello'],
    ['A6/73: owner, not addressed, switched off (C19)', {}, quiet, 'append_message', 'owner', 'hello'],
    ['A6/73: owner, mentioned, switched off (C19)', { mentioned: true }, quiet, 'post_message', 'owner', 'hello'],
    [
      'A6/73: owner, elsewhere, not switched off (C19)',
      { channel: 'irc' },
      { ...quiet, agent: { owners: ['irc:42'] } },
      'post_message',
      'owner',
      'hello',
    ],
    ['A6/74: other, mentioned', { mentioned: true }, {}, 'post_message', 'participant', 'hello'],
    ['A6/74: other, directed', { directed: true }, {}, 'post_message', 'participant', 'hello'],
    ['A6/74: other, named', { text: 'Natter, hi' }, named, 'post_message', 'participant', 'Natter, hi'],
    ['A6/75: other, not addressed', {}, {}, 'append_message', 'participant', 'hello'],
    [
      'A6/75: the same id on another channel is not the owner',
      { channel: 'slack' },
      owners,
      'append_message',
      'participant',
      'hello',
    ],
    ['A6/75: other, direct chat', direct, {}, 'post_message', 'participant', 'hello'],
    ['A6/75: a program', { sender: { id: '1', role: 'program' } }, {}, 'append_message', 'program', 'hello'],
  ])('%s', (_, change, settings, type, role, text) => {
    expect(messageOf(change, settings)).toMatchObject({ type, text, sender: { role }, messageId: 'telegram:1' });
  });

  test.each<[string, Change, Change, 'owner' | undefined]>([
    ['what the owner says to others', {}, owners, 'owner'],
    ['what the owner says to the agent', { mentioned: true }, owners, undefined],
    ['what the owner says with the rule off', {}, quiet, undefined],
    ['what others say', {}, {}, undefined],
    ['what the owner says in a direct chat', direct, owners, undefined],
  ])('A6/76, D3: a mark, not a text, tells %s from the rest', (_, change, settings, aside) => {
    expect(messageOf(change, settings).aside).toBe(aside);
  });

  test.each(['telegram', 'discord', 'slack'])('A6/72: the rules are the same for %s', (channel) => {
    const settings = { agent: { owners: [`${channel}:1`] } };
    const types = [{ sender: { id: '1' } }, { mentioned: true }, {}].map(
      (change) => messageOf({ channel, ...change }, settings).type,
    );
    expect(types).toEqual(['post_message', 'post_message', 'append_message']);
  });

  test.each([
    ['ubotu: help', true],
    ['ask @UBOTU', true],
    ['a+b?', true],
    ['ubotus', false],
    ['my_ubotu', false],
    ['', false],
  ])('A6/74: a name counts as a word of its own: %j', (text, isNamed) => {
    expect(nameFinder(['', 'ubotu', 'a+b'])(text)).toBe(isNamed);
    expect(nameFinder([''])(text)).toBe(false);
  });
});

describe('chat commands in the router (A11)', () => {
  const triggers = { session: { resetTriggers: ['fresh start'] } };
  test.each<[rule: string, change: Change, settings: Change, type: string]>([
    ['A4/53: /new in a direct chat', { ...direct, text: '/new' }, owners, 'reset'],
    ['A4/53: with a remainder', { ...direct, text: '/reset good morning' }, owners, 'reset'],
    ['A4/53: a trigger of the configuration', { ...direct, text: 'fresh start' }, { ...owners, ...triggers }, 'reset'],
    ['A4/53: a word of it is a message', { ...direct, text: 'freshly' }, triggers, 'post_message'],
    ['A11/125: /stop', { ...direct, text: '/stop' }, {}, 'stop'],
    ['A11/125: not standalone', { ...direct, text: '/stop it' }, {}, 'post_message'],
    ['A11/123: /status', { ...direct, text: '/status' }, {}, 'report'],
    ['A9/94: /send of the owner', { ...direct, text: '/send off' }, owners, 'patch_session'],
    ['A9/94: /send of another', { ...direct, text: '/send off' }, {}, 'post_notice'],
    ['A11/127: a group: the owner, standing alone', { text: '/new' }, owners, 'reset'],
    ['A11/127: a group: the owner, not standing alone', { text: '/new words' }, owners, 'post_message'],
    ['A11/127: a group: another, standing alone', { text: '/new' }, {}, 'append_message'],
    ['A11/127, D7: a group: another, addressed', { text: '/new words', mentioned: true }, {}, 'post_notice'],
    ['A11/127: a group: another, by name', { text: '@natter /stop' }, named, 'stop'],
    ['A11/127: a group: for another bot', { text: '/stop@otherbot' }, { ...owners }, 'post_message'],
  ])('%s', (_, change, settings, type) => expect(routed(change, settings).data.type).toBe(type));

  test('A4/53: the new session gets its id and the rest as its first message', () => {
    expect(routed({ ...direct, text: '/new hello there' }, owners).data).toMatchObject({
      sessionId: expect.stringMatching(/^telegram:2026-03-04-/),
      message: { text: 'hello there', messageId: 'telegram:1', sender: { principal: 'telegram:42' } },
    });
  });
});

describe('where the answer goes (A13/138)', () => {
  const webhooks = { outlets: { webhooks: { telegram: { url: 'http://localhost/hook', secret: 's' } } } };
  test.each<[string, Change, Change, unknown]>([
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
  ])('A13/138: %s', (_, change, settings, target) => expect(messageOf(change, settings).deliverTo).toEqual(target));

  test.each<[string, Change, Change, string | undefined]>([
    ['nowhere', {}, {}, 'telegram'],
    ['elsewhere', { deliverTo: { channel: 'x', to: 'y' } }, webhooks, 'telegram'],
    ['back: the target says it', {}, webhooks, undefined],
  ])('a message remembers the channel that it came from, if its answer goes %s', (_, change, settings, channel) => {
    expect(messageOf(change, settings).channel).toBe(channel);
  });
});

test.each(['message', 'meta'])(
  'A11/125: a %s cannot have its answers taken for those of a run that another session started',
  (kind) => {
    const deliverTo = { channel: 'session', to: 'agent:main:main', threadId: 'run-1' };
    expect(outcome({ kind, deliverTo, text: '' })).toEqual({
      unroutable: 'deliverTo.channel: answers go to a session only from runs that it started; name an outlet',
    });
  },
);

describe('silence (A6/77-79)', () => {
  test.each([
    ['<NO_REPLY>', ''],
    [' <EMPTY_RESPONSE>\n', ''],
    ['<NO_REPLY><NO_REPLY>', ''],
    ['Sure. <NO_REPLY>', 'Sure.'],
    ['  kept as it is ', '  kept as it is '],
    ['<NO_REPLY', '<NO_REPLY'],
  ])('A6/77-79: %j is shown as %j', (reply, shown) => expect(withoutSilence(reply)).toBe(shown));
});
