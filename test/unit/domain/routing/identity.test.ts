import { describe, expect, test } from 'vitest';
import { identitiesOf } from '../../../../shared/domain/keys/identity.ts';
import { channelRules } from '../../../../shared/domain/routing/group.ts';
import { type Change, config, messageOf, outcome } from './support.ts';

const links = {
  alice: ['telegram:42', 'discord:77', '+4912'],
  bob: ['telegram:+4912'],
  'Zoë-K': ['matrix:@z:x.org'],
};

describe('the person behind an id (A3/29, A5/66)', () => {
  const identities = identitiesOf(links);
  test.each([
    ['telegram', '42', 'alice'],
    ['discord', '77', 'alice'],
    ['signal', '+4912', 'alice'],
    ['telegram', '+4912', 'bob'],
    ['matrix', '@z:x.org', 'Zoë-K'],
    ['matrix', '@Z:x.org', 'matrix:@Z:x.org'],
    ['slack', '42', 'slack:42'],
    ['slack', 'telegram:42', 'slack:telegram:42'],
    ['slack', 'alice', 'slack:alice'],
    ['slack', 'constructor', 'slack:constructor'],
  ])('A5/66: %s %s is %s', (channel, id, principal) => {
    expect(identities.principalOf(channel, id)).toBe(principal);
    expect(identities.resolve(principal), 'resolving again changes nothing').toBe(principal);
    expect(messageOf({ channel, sender: { id } }, { session: { identityLinks: links } }).sender.principal).toBe(principal);
  });

  test('A5/66: a principal stored before the link was made is the same person', () => {
    expect(identities.resolve('telegram:42')).toBe('alice');
    expect(identities.resolve('telegram:43')).toBe('telegram:43');
    expect(identitiesOf({}).resolve('alice')).toBe('alice');
  });

  test('F18: a name that every object has is linked to nothing', () => {
    expect(identities.aliasesOf('constructor')).toEqual(['constructor']);
  });
});

describe('roles come from the configuration (A5/66, A6/73)', () => {
  const role = (change: Change, owners: string[]) =>
    messageOf(change, { agent: { owners }, session: { identityLinks: links } }).sender.role;
  test.each<[rule: string, change: Change, owners: string[], expected: string]>([
    ['an id of the owner', { sender: { id: '5' } }, ['telegram:5'], 'owner'],
    ['the same id elsewhere is not', { channel: 'slack', sender: { id: '5' } }, ['telegram:5'], 'participant'],
    ['a linked name', { channel: 'discord', sender: { id: '77' } }, ['alice'], 'owner'],
    ['an id, and the person links another', { channel: 'discord', sender: { id: '77' } }, ['telegram:42'], 'owner'],
    ['who only calls himself so is not', { sender: { id: 'alice' } }, ['alice'], 'participant'],
    ['nor who spells out the id', { channel: 'slack', sender: { id: 'telegram:5' } }, ['telegram:5'], 'participant'],
    ['nor who says so', { sender: { id: '1', role: 'owner' } }, [], 'participant'],
    ['a program stays one', { sender: { id: '1', role: 'program' } }, [], 'program'],
    ['unless it is the owner', { sender: { id: '5', role: 'program' } }, ['telegram:5'], 'owner'],
  ])('A5/66: %s', (_, change, owners, expected) => expect(role(change, owners)).toBe(expected));

  test('A5/66: a principal in the envelope is not believed', () => {
    expect(messageOf({ sender: { id: '1', principal: 'alice' } }).sender.principal).toBe('telegram:1');
  });
});

describe('channels.<channel>.dmPolicy: allowlist (A3/31)', () => {
  const allowFrom = ['7', 'telegram:8', 'alice', '@a:b'];
  const rules = channelRules(
    'telegram',
    config({ channels: { telegram: { dmPolicy: 'allowlist', allowFrom } } }).channels.telegram!,
    identitiesOf(links),
  );
  const admits = (id: string, role: 'owner' | 'participant' = 'participant') =>
    rules.admits({ id, role, principal: identitiesOf(links).principalOf('telegram', id) }, { id, kind: 'direct' }) === 'yes';
  test.each([
    ['7', true],
    ['8', true],
    ['42', true],
    ['@a:b', true],
    ['9', false],
    ['alice', false],
    ['telegram:8', false],
  ])('A3/31: %s is let in: %s', (id, expected) => expect(admits(id)).toBe(expected));
  test('A3/31: the owner always is', () => expect(admits('9', 'owner')).toBe(true));

  const settings = { channels: { telegram: { dmPolicy: 'allowlist', allowFrom: ['7'] } } };
  const direct = { conversation: { id: '9', kind: 'direct' } };
  test('A3/31: a direct message of others is dropped with a reason', () => {
    expect(outcome(direct, settings)).toEqual({
      dropped: 'channels.telegram.dmPolicy: only senders in allowFrom may write direct messages',
    });
    expect(outcome({ ...direct, kind: 'meta', text: '' }, settings)).toHaveProperty('dropped');
  });
  test('A3/31: theirs are not, nor what is said in a group, nor on another channel', () => {
    for (const change of [{ ...direct, sender: { id: '7' } }, {}, { ...direct, channel: 'slack' }])
      expect(outcome(change, settings)).toHaveProperty('command');
    expect(config().channels).toEqual({});
  });
});
