import { describe, expect, test } from 'vitest';
import {
  canAccess,
  grantOfToken,
  mayChange,
  ownsKey,
  type Principal,
  seesApproval,
} from '../../../../shared/domain/access/access.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { identitiesOf } from '../../../../shared/domain/keys/identity.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';

const key = (text: string) => text as SessionKey;
const links = { ann: ['telegram:1', 'discord:11'], bob: ['telegram:2'] };
const owner: Principal = { role: 'owner' };
const participant = (principal: string): Principal => ({ role: 'participant', principal });
const channel = (namespace: string, principal?: string): Principal => ({
  role: 'channel',
  namespace,
  ...(principal !== undefined && { principal }),
});

const viewer = (text: string, deletedSeq = 0): Principal => ({ role: 'viewer', sessionKey: key(text), deletedSeq });

describe('canAccess', () => {
  const dm = 'agent:main:telegram:dm:1';
  const rows: readonly [rule: string, asking: Principal, key: string, participants: string[], may: boolean][] = [
    ['A5/67: the owner sees all', owner, dm, [], true],
    ['A8/89: a participant sees what it takes part in', participant('telegram:9'), dm, ['telegram:1', 'telegram:9'], true],
    ['A8/89: and nothing else', participant('telegram:9'), dm, ['telegram:1'], false],
    ['A8/89: nor what nobody takes part in', participant('telegram:9'), dm, [], false],
    ['A8/89: ids are byte-exact', participant('telegram:ab'), dm, ['telegram:aB', 'telegram:abc', 'Telegram:ab'], false],
    ['A8/89: the same id on another channel is somebody else', participant('telegram:9'), dm, ['discord:9'], false],
    ['A8/89: the key says nothing about who takes part', participant('telegram:1'), dm, ['telegram:9'], false],
    ['A5/66: who was linked since is the same person', participant('ann'), dm, ['telegram:1'], true],
    ['A5/66: by any of the ids', participant('discord:11'), dm, ['telegram:1'], true],
    ['A5/66: and by the name', participant('telegram:1'), dm, ['ann'], true],
    ['A5/66: but not another person', participant('bob'), dm, ['ann', 'telegram:1'], false],
    ['A8/90: a channel sees its namespace', channel('telegram'), dm, [], true],
    ['A8/90: whichever the agent', channel('telegram'), 'agent:work:telegram:group:-1', [], true],
    ['A8/90: a namespace ends at a delimiter', channel('telegram'), 'agent:main:telegramx:dm:1', [], false],
    ['A8/90: not the main session of that name', channel('telegram'), 'agent:main:telegram', [], false],
    ['A8/90: nor the agent of that name', channel('telegram'), 'agent:telegram:main', [], false],
    ['A8/90: nor an id of that name', channel('telegram'), 'agent:main:discord:group:telegram:dm:1', [], false],
    ['A8/90: nor the shared main session', channel('telegram'), 'agent:main:main', ['telegram:1'], false],
    ['A8/90: a narrower namespace', channel('telegram:group'), 'agent:main:telegram:group:-1', [], true],
    ['A8/90: is narrower', channel('telegram:group'), dm, [], false],
    ['A8/90: with a principal both must hold', channel('telegram', 'ann'), dm, ['telegram:1'], true],
    ['A8/90: the namespace alone is not enough', channel('telegram', 'bob'), dm, ['telegram:1'], false],
    ['A8/90: nor is taking part', channel('telegram', 'ann'), 'agent:main:discord:dm:11', ['ann'], false],
    ['B23: a viewer sees the session of their link', viewer(dm), dm, [], true],
    ['B23: and no other, even one whose key begins alike', viewer(dm), `${dm}1`, [], false],
    ['B23: nor what is below it', viewer(dm), `${dm}:thread:1`, [], false],
    ['B23: nor one that was begun under its key after a deletion', viewer(dm, 7), dm, [], false],
  ];
  test.each(rows)('%s (%j, %s)', (_, asking, text, participants, may) => {
    expect(canAccess(asking, { key: key(text), participants, deletedSeq: 0 }, identitiesOf(links))).toBe(may);
  });

  test('B23: a link made after a deletion is to the session that was begun since', () => {
    const session = { key: key(dm), participants: [], deletedSeq: 7 };
    const seen = [viewer(dm), viewer(dm, 7), viewer(dm, 9)].map((caller) => canAccess(caller, session, identitiesOf(links)));
    expect(seen).toEqual([false, true, false]);
  });
});

describe('what a viewer may not', () => {
  const caller = viewer('agent:main:telegram:dm:1');
  test('B23: it changes nothing', () => {
    expect((['sessions', 'approvals', 'nothing'] as const).map((change) => mayChange(caller, change))).toEqual([
      false,
      false,
      true,
    ]);
  });
  test('B23: it sees the approvals of its session alone', () => {
    const seen = ['agent:main:telegram:dm:1', 'agent:main:telegram:dm:2'].map((text) =>
      seesApproval(caller, { key: key(text), participants: [], deletedSeq: 0 }, identitiesOf(links)),
    );
    expect(seen).toEqual([true, false]);
  });
});

describe('ownsKey: the session others than the owner may begin', () => {
  const under = (session: object) => configSchema.parse({ session: { identityLinks: links, ...session } });
  const owns = (asking: Principal, text: string, session: object): boolean =>
    ownsKey(asking, key(text), under(session), identitiesOf(links));
  const rows: readonly [rule: string, asking: Principal, dmScope: string, key: string, may: boolean][] = [
    ['A5/67, A3/26: by person', participant('telegram:9'), 'per-peer', 'agent:main:dm:9', true],
    ['A5/67, A3/27: by channel', participant('telegram:9'), 'per-channel-peer', 'agent:main:telegram:dm:9', true],
    ['A5/67, A3/28: by account', participant('telegram:9'), 'per-account-channel-peer', 'agent:main:telegram:work:dm:9', true],
    ['A5/67, A3/29: under the linked name', participant('ann'), 'per-channel-peer', 'agent:main:discord:dm:ann', true],
    ['A5/67, A3/29: whichever id the token has', participant('telegram:1'), 'per-peer', 'agent:main:dm:ann', true],
    ["A5/67: not another person's", participant('telegram:9'), 'per-channel-peer', 'agent:main:telegram:dm:8', false],
    ['A5/67: not on a channel of other people', participant('telegram:9'), 'per-channel-peer', 'agent:main:discord:dm:9', false],
    ['A5/67: not the id of a linked person', participant('ann'), 'per-channel-peer', 'agent:main:telegram:dm:1', false],
    ['A5/67: not in the form of another scope', participant('telegram:9'), 'per-channel-peer', 'agent:main:dm:9', false],
    ['F18: a name that every object has is linked to nothing', participant('constructor'), 'per-peer', 'agent:main:dm:9', false],
    ['A5/67: not with another agent', participant('telegram:9'), 'per-peer', 'agent:work:dm:9', false],
    ['A5/67, A3/33: not a group', participant('telegram:9'), 'per-channel-peer', 'agent:main:telegram:group:9', false],
    ['A5/67, A3/25: the main session is shared', participant('telegram:9'), 'main', 'agent:main:main', false],
    ['A8/90: a channel alone owns none', channel('telegram'), 'per-channel-peer', 'agent:main:telegram:dm:9', false],
    ['A8/90: with a person, theirs', channel('telegram', 'telegram:9'), 'per-channel-peer', 'agent:main:telegram:dm:9', true],
    ['A8/90: within the namespace', channel('telegram', 'ann'), 'per-channel-peer', 'agent:main:discord:dm:ann', false],
    ['B23: a viewer begins none', viewer('agent:main:telegram:dm:9'), 'per-channel-peer', 'agent:main:telegram:dm:9', false],
  ];
  test.each(rows)('%s (%j, %s, %s)', (_, asking, dmScope, text, may) => {
    expect(owns(asking, text, { dmScope })).toBe(may);
  });
  test('A5/67, A3/22: none where all is one session', () => {
    const session = { dmScope: 'per-peer', scope: 'global' };
    expect(owns(participant('telegram:9'), 'agent:main:dm:9', session)).toBe(false);
    expect(owns(participant('telegram:9'), 'agent:main:global', session)).toBe(false);
  });
});

describe('grantOf: a token must say what it is limited to, and no more', () => {
  const sha256 = '0'.repeat(64);
  const rows: readonly [rule: string, token: object, expected: object][] = [
    ['an owner', { role: 'owner' }, { principal: { role: 'owner' } }],
    ['a participant', { role: 'participant', principal: 'irc:ann' }, { principal: participant('irc:ann') }],
    ['a linked participant', { role: 'participant', principal: 'ann' }, { principal: participant('ann') }],
    ['a channel', { role: 'channel', namespace: 'telegram' }, { principal: channel('telegram') }],
    [
      'a person on a channel',
      { role: 'channel', namespace: 'telegram:work', principal: 'ann' },
      { principal: channel('telegram:work', 'ann') },
    ],
    ['a participant who is nobody', { role: 'participant' }, { field: 'principal' }],
    ['a bare name that is linked to nobody', { role: 'participant', principal: 'api' }, { field: 'principal' }],
    ['a name of every object', { role: 'participant', principal: 'constructor' }, { field: 'principal' }],
    ['a participant with a namespace', { role: 'participant', principal: 'ann', namespace: 'irc' }, { field: 'namespace' }],
    ['an owner with a person', { role: 'owner', principal: 'ann' }, { field: 'principal' }],
    ['an owner with a namespace', { role: 'owner', namespace: 'irc' }, { field: 'namespace' }],
    ['a channel without a namespace', { role: 'channel' }, { field: 'namespace' }],
    ['a namespace with an end', { role: 'channel', namespace: 'telegram:' }, { field: 'namespace' }],
    ['a namespace with an empty segment', { role: 'channel', namespace: 'telegram::dm' }, { field: 'namespace' }],
    ['a wildcard', { role: 'channel', namespace: '*' }, { field: 'namespace' }],
    ['a viewer', { role: 'viewer', sessionKey: 'agent:main:main', deletedSeq: 7 }, { principal: viewer('agent:main:main', 7) }],
    ['a viewer of nothing', { role: 'viewer' }, { field: 'sessionKey' }],
    ['a viewer who is somebody', { role: 'viewer', sessionKey: 'agent:main:main', principal: 'ann' }, { field: 'principal' }],
    ['a viewer of a channel', { role: 'viewer', sessionKey: 'agent:main:main', namespace: 'irc' }, { field: 'namespace' }],
    ['a reader of one session', { role: 'read-only', sessionKey: 'agent:main:main' }, { field: 'sessionKey' }],
    ['a participant of one session', { role: 'participant', principal: 'ann', sessionKey: 'a' }, { field: 'sessionKey' }],
    ['a channel with a bare name', { role: 'channel', namespace: 'irc', principal: 'zoe' }, { field: 'principal' }],
  ];
  test.each(rows)('A8/89-90: %s', (_, token, expected) => {
    expect(grantOfToken({ sha256, ...token } as never, links)).toMatchObject(expected);
  });
});
