import { describe, expect, test } from 'vitest';
import { channelConfig } from '../../../../shared/domain/config/channel-schema.ts';
import { inboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import {
  admit,
  approvalNotice,
  approve,
  type ChannelPairing,
  deny,
  nobodyPaired,
  type PairingChange,
  pairingAlphabet,
  pairingLimits,
  revoke,
  waitingRequests,
} from '../../../../shared/domain/routing/pairing.ts';
import { createRoute } from '../../../../shared/domain/routing/route.ts';
import { type Change, config, outcome, routed } from './support.ts';

/** D8: pairing as a story. A code is the sender's name in capitals; time is in minutes. */
const minute = 60_000;
const codeOf = (senderId: string) => senderId.toUpperCase();

class Story {
  #record: ChannelPairing = nobodyPaired('telegram');
  #take<T>({ record, result }: PairingChange<T>): T {
    this.#record = record ?? this.#record;
    return result;
  }
  writes(senderId: string, at = 0, inboundId = `${senderId}-${at}`): string {
    const told = this.#take(
      admit(this.#record, { code: `${codeOf(senderId)}${at === 0 ? '' : `-${at}`}`, senderId, inboundId }, at * minute),
    );
    return told.kind === 'told' ? `told ${told.code}` : told.kind;
  }
  approves(code: string, at = 1): string | null {
    return this.#take(approve(this.#record, { code, by: 'cli', now: at * minute }))?.senderId ?? null;
  }
  denies(code: string, at = 1): string | null {
    return this.#take(deny(this.#record, code, at * minute))?.senderId ?? null;
  }
  revokes(senderId: string): string | null {
    return this.#take(revoke(this.#record, senderId))?.senderId ?? null;
  }
  waiting(at = 1): string[] {
    return waitingRequests(this.#record, at * minute).map(({ senderId }) => senderId);
  }
}

describe('pairing (D8)', () => {
  test('D8: a stranger is told a code once, however often they write', () => {
    const story = new Story();
    expect([story.writes('ann'), story.writes('ann', 1), story.writes('ann', 59)]).toEqual(['told ANN', 'silent', 'silent']);
  });

  test('D8: the same message again is the same code, so that a crash in between loses no notice', () => {
    const story = new Story();
    expect([story.writes('ann', 0, 'm1'), story.writes('ann', 1, 'm1')]).toEqual(['told ANN', 'told ANN']);
  });

  test('D8: approved by the code in any case, they may write', () => {
    const story = new Story();
    story.writes('ann');
    expect(story.approves(' aNn ')).toBe('ann');
    expect(story.writes('ann', 2)).toBe('paired');
    expect(story.waiting()).toEqual([]);
  });

  test('D8: approving twice is approving once', () => {
    const story = new Story();
    story.writes('ann');
    expect([story.approves('ANN'), story.approves('ANN')]).toEqual(['ann', 'ann']);
  });

  test('D8: no other code will do, and not a part of it', () => {
    const story = new Story();
    story.writes('ann');
    expect(['ANNA', 'AN', 'A NN', '', 'BOB'].map((code) => story.approves(code))).toEqual([null, null, null, null, null]);
    expect(story.writes('bob')).toBe('told BOB');
  });

  test('D8: a code is valid for an hour', () => {
    const story = new Story();
    story.writes('ann');
    expect(story.approves('ANN', 60)).toBeNull();
    expect(story.writes('ann', 61)).toBe('told ANN-61');
    expect(story.approves('ANN-61', 120)).toBe('ann');
  });

  test('D8: of so many strangers who wait, the next ones are told nothing', () => {
    const story = new Story();
    const strangers = ['a', 'b', 'c', 'd', 'e'];
    expect(strangers.map((id) => story.writes(id))).toEqual(['told A', 'told B', 'told C', 'silent', 'silent']);
    expect(story.waiting()).toHaveLength(pairingLimits.requests);
    story.approves('B');
    expect(story.writes('d', 2)).toBe('told D-2');
    expect(story.writes('e', 61)).toBe('told E-61');
  });

  test('D8: who was denied is told nothing for the rest of the hour, and holds up nobody', () => {
    const story = new Story();
    for (const id of ['a', 'b', 'c']) story.writes(id);
    expect(story.denies('a')).toBe('a');
    expect([story.denies('a'), story.approves('A'), story.writes('a', 2), story.writes('d', 2)]).toEqual([
      null,
      null,
      'silent',
      'told D-2',
    ]);
    expect(story.writes('a', 61)).toBe('told A-61');
  });

  test('D8: a revoked sender is a stranger again', () => {
    const story = new Story();
    story.writes('ann');
    story.approves('ANN');
    expect([story.revokes('ann'), story.revokes('ann'), story.revokes('bob')]).toEqual(['ann', null, null]);
    expect(story.writes('ann', 2)).toBe('told ANN-2');
  });

  test('D8: as many are approved as there is room for', () => {
    const paired = Array.from({ length: pairingLimits.senders }, (_, index) => ({
      senderId: `${index}`,
      code: `${index}`,
      pairedAt: 0,
      by: 'cli',
    }));
    const { record } = admit({ ...nobodyPaired('irc'), paired }, { code: 'ANN', senderId: 'ann', inboundId: '1' }, 0);
    expect(() => approve(record!, { code: 'ANN', by: 'cli', now: 1 })).toThrow(/has 500 paired senders; revoke one/);
  });

  test('D8: no two characters of a code look alike', () => {
    expect(new Set(pairingAlphabet).size).toBe(32);
    expect(pairingAlphabet).not.toMatch(/[01IO]/);
  });
});

const direct = (id: string, text = 'let me in'): Change => ({ conversation: { id, kind: 'direct' }, sender: { id }, text });
const pairing = { agent: { owners: ['telegram:1'] }, channels: { telegram: { dmPolicy: 'pairing', allowFrom: ['5'] } } };

describe('who is let in (D8)', () => {
  const on = (rules: object, more: object = {}) => ({
    ...more,
    channels: { telegram: rules },
    agent: { owners: ['telegram:1'] },
  });
  const group = (id: string, sender = '9', more: Change = {}): Change => ({
    conversation: { id, kind: 'group' },
    sender: { id: sender },
    ...more,
  });
  const dm = 'dropped: channels.telegram.dmPolicy: ';
  test.each<[rule: string, change: Change, rules: object, outcome: string]>([
    ['open is the default of a channel that posts envelopes', direct('9'), {}, 'post_message'],
    ['open: anybody', direct('9'), { dmPolicy: 'open' }, 'post_message'],
    ['allowlist: who is on it', direct('5'), { dmPolicy: 'allowlist', allowFrom: ['5'] }, 'post_message'],
    [
      'allowlist: nobody else',
      direct('9'),
      { dmPolicy: 'allowlist', allowFrom: ['5'] },
      `${dm}only senders in allowFrom may write direct messages`,
    ],
    ['allowlist: the owner', direct('1'), { dmPolicy: 'allowlist' }, 'post_message'],
    ['pairing: who is on the list', direct('5'), { dmPolicy: 'pairing', allowFrom: ['5'] }, 'post_message'],
    ['pairing: the owner', direct('1'), { dmPolicy: 'pairing' }, 'post_message'],
    ['pairing: a stranger', direct('9'), { dmPolicy: 'pairing' }, 'pairing: stranger'],
    [
      'pairing: what is no message',
      { ...direct('9', ''), kind: 'meta' },
      { dmPolicy: 'pairing' },
      `${dm}the sender is not paired`,
    ],
    ['pairing: a command of a stranger', direct('9', '/new'), { dmPolicy: 'pairing' }, 'pairing: stranger'],
    ['disabled: not even the owner', direct('1'), { dmPolicy: 'disabled' }, `${dm}direct messages are disabled`],
    ['disabled: groups go on', group('-1'), { dmPolicy: 'disabled' }, 'append_message'],
    ['groups are open by default', group('-1'), {}, 'append_message'],
    ['no groups', group('-1', '1'), { groupPolicy: 'disabled' }, 'dropped: channels.telegram.groupPolicy: groups are disabled'],
    ['a list of groups: one that is on it', group('-1'), { groupPolicy: 'allowlist', groups: { '-1': {} } }, 'append_message'],
    [
      'a list of groups: its topics',
      group('-1', '9', { conversation: { id: '-1', kind: 'group', threadId: '7' } }),
      { groupPolicy: 'allowlist', groups: { '-1': {} } },
      'append_message',
    ],
    [
      'a list of groups: another',
      group('-2', '1'),
      { groupPolicy: 'allowlist', groups: { '-1': {} } },
      'dropped: channels.telegram.groups: group -2 is not in the list',
    ],
    ['a list of groups: all', group('-2'), { groupPolicy: 'allowlist', groups: { '*': {} } }, 'append_message'],
    ['a list of groups, and direct messages', direct('9'), { groupPolicy: 'allowlist' }, 'post_message'],
    ['without a mention, where none is needed', group('-1'), { groups: { '-1': { requireMention: false } } }, 'post_message'],
    ['without a mention, in all groups', group('-2'), { groups: { '*': { requireMention: false } } }, 'post_message'],
    [
      'without a mention, in all groups but one',
      group('-1'),
      { groups: { '*': { requireMention: false }, '-1': {} } },
      'append_message',
    ],
    ['people of a group: one of them', group('-1', '5'), { groups: { '-1': { allowFrom: ['telegram:5'] } } }, 'append_message'],
    [
      'people of a group: the owner',
      group('-1', '1', { mentioned: true }),
      { groups: { '-1': { allowFrom: [] } } },
      'post_message',
    ],
    [
      'people of a group: another',
      group('-1', '9', { mentioned: true }),
      { groups: { '-1': { allowFrom: ['5'] } } },
      'dropped: channels.telegram.groups: only senders in allowFrom may write in group -1',
    ],
    [
      'a command, where no mention is needed',
      group('-1', '9', { text: '/new' }),
      { groups: { '-1': { requireMention: false } } },
      'post_notice',
    ],
  ])('D8: %s', (_, change, rules, expected) => {
    const found = outcome(change, on(rules));
    if ('command' in found) expect(found.command.data.type).toBe(expected);
    else if ('pairing' in found) expect(`pairing: ${found.pairing.kind}`).toBe(expected);
    else expect(`dropped: ${'dropped' in found ? found.dropped : ''}`).toBe(expected);
  });

  test('D8: a channel that is not configured lets everybody in, whatever others do', () => {
    expect(routed({ ...direct('9'), channel: 'irc' }, pairing).data.type).toBe('post_message');
  });
});

describe('what a stranger is told (D8)', () => {
  const hooked = { ...pairing, outlets: { webhooks: { telegram: { url: 'http://localhost/hook', secret: 's' } } } };
  const told = (session: object) => outcome(direct('9'), { ...hooked, session }, { notice: 'the code is X' });
  test.each([
    ['main', {}, 'agent:main:telegram:default:dm:9'],
    ['global', { scope: 'global' }, 'agent:main:telegram:default:dm:9'],
    ['per peer', { dmScope: 'per-peer' }, 'agent:main:dm:9'],
    ['per channel', { dmScope: 'per-channel-peer' }, 'agent:main:telegram:dm:9'],
  ])('D8: goes through a session of their own, whose scope is otherwise %s', (_, session, key) => {
    expect(told(session)).toMatchObject({
      command: {
        key,
        data: {
          type: 'post_notice',
          notice: { code: 'pairing', text: 'the code is X', deliverTo: { channel: 'telegram', to: '9' } },
        },
      },
    });
  });

  test('D8: once paired, they are anybody else', () => {
    expect(outcome(direct('9', 'hello'), hooked, { isPaired: true })).toMatchObject({
      command: {
        key: 'agent:main:main',
        data: { type: 'post_message', message: { text: 'hello', sender: { role: 'participant' } } },
      },
    });
  });
});

describe('/pair (D8)', () => {
  test('D8: of the owner in a direct chat is an approval', () => {
    expect(outcome(direct('1', '/pair 7kq2m9xa'), pairing)).toEqual({
      pairing: { kind: 'approve', code: '7kq2m9xa', by: 'telegram:1' },
    });
    expect(outcome(direct('1', '/pair X'), pairing, { notice: 'done' })).toMatchObject({
      command: { key: 'agent:main:main', data: { type: 'post_notice', notice: { code: 'pairing', text: 'done' } } },
    });
  });

  test('D8: the notice tells the id from the name that the stranger chose, in one line', () => {
    const sender = { channel: 'irc', senderId: 'eve', code: 'X', pairedAt: 1, by: 'cli' };
    expect(approvalNotice({ ...sender, name: 'Olga, irc:olga may write.\nDenied: "Eve"' })).toBe(
      'Approved: irc:eve ("Olga, irc:olga may write.\\nDenied: \\"Eve\\"") may write to me now.',
    );
    expect(approvalNotice(sender)).toBe('Approved: irc:eve may write to me now.');
  });

  test.each<[string, Change]>([
    ['of the owner in a group', { conversation: { id: '-1', kind: 'group' }, sender: { id: '1' }, text: '/pair X' }],
    ['of somebody who may write', direct('5', '/pair X')],
  ])('D8: %s approves nobody', (_, change) => {
    expect(routed(change, pairing).data).toMatchObject({ type: 'post_notice', notice: { code: 'owner_only' } });
  });
});

test.each([
  ['posted', 'open', 'open'],
  ['built-in', 'pairing', 'allowlist'],
] as const)('D8: what a %s connector defaults to', (kind, dmPolicy, groupPolicy) => {
  const rules = channelConfig(kind).parse({});
  expect(rules).toMatchObject({ dmPolicy, groupPolicy });
  const message = (change: object) =>
    createRoute({ ...config({ agent: { owners: ['telegram:1'] } }), channels: { telegram: rules } })(
      inboundEnvelope.parse({
        ...{ id: '7', channel: 'telegram', text: '@natter hello', sender: { id: '9' }, mentioned: true },
        ...{ conversation: { id: '9', kind: 'direct' }, ...change },
      }),
      0,
    );
  const group = message({ conversation: { id: '-1', kind: 'group' } });
  expect([message({}), group].map((result) => Object.keys(result)[0])).toEqual(
    kind === 'posted' ? ['command', 'command'] : ['pairing', 'dropped'],
  );
});
