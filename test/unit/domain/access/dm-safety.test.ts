import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { dangers, refuseDangers } from '../../../../shared/domain/routing/dm-safety.ts';

const allow = (...allowFrom: string[]) => ({ dmPolicy: 'allowlist', allowFrom });
const links = { ann: ['telegram:1', 'irc:ann'] };

/** A3/31: several people, and one direct session that they would share. */
const cases: readonly [rule: string, session: object, channels: object, danger: RegExp | null][] = [
  ['no channel is configured: nobody is known who could write', {}, {}, null],
  [
    'a channel that is open to anybody',
    {},
    { irc: {} },
    /^anybody may write on irc, and with session\.dmScope "main" .* set session\.dmScope to "per-channel-peer"$/,
  ],
  ['all open channels are named', {}, { irc: {}, telegram: allow('1'), web: { dmPolicy: 'open' } }, /on irc, web,/],
  [
    'D8: a channel that lets in whoever is paired',
    {},
    { irc: { dmPolicy: 'pairing' } },
    /^whoever is paired may write on irc, and with/,
  ],
  ['D8: a channel without direct messages', {}, { irc: { dmPolicy: 'disabled', allowFrom: ['ann', 'bob'] } }, null],
  ['an allow list of one', {}, { irc: allow('ann') }, null],
  ['an allow list of nobody', {}, { irc: allow() }, null],
  ['an allow list of two', {}, { irc: allow('ann', 'bob') }, /^2 people may write/],
  ['one on each of two channels', {}, { irc: allow('ann'), telegram: allow('1') }, /^2 people may write/],
  ['the same person twice', {}, { irc: allow('ann', 'irc:ann') }, null],
  ['one person on two channels, linked (A3/29)', { identityLinks: links }, { irc: allow('ann'), telegram: allow('1') }, null],
  ['a linked person and another one', { identityLinks: links }, { irc: allow('ann', 'bob'), telegram: allow('1') }, /^2 people/],
  [
    'an id that is linked on another channel only',
    { identityLinks: links },
    { irc: allow('1'), telegram: allow('1') },
    /^2 people/,
  ],
  [
    'scope global shares even more',
    { scope: 'global', dmScope: 'per-peer' },
    { irc: {} },
    /session\.scope "global".*session\.scope to "per-sender"/,
  ],
];

/** The owner sees every session anyway (A5/67), but others must not see the owner's. */
const owned: typeof cases = [
  ['the owner alone', {}, { telegram: allow('1') }, null],
  ['the owner on two channels', {}, { telegram: allow('1'), irc: allow('ann') }, null],
  ['the owner, who is always let in, and another one', {}, { telegram: allow('2') }, /^2 people may write/],
  [
    'the id of an owner on a channel that is not theirs',
    { dmScope: 'per-peer' },
    {},
    /^session\.dmScope "per-peer": whoever has/,
  ],
  ['the same, refused', { dmScope: 'per-peer', strict: true }, {}, null],
  ['the owner by the name of a link', { identityLinks: links }, { telegram: allow('ann') }, null],
];

describe('several people and one direct session are a danger (A3/31)', () => {
  test.each(cases)('A3/31: %s', (_, session, channels, danger) => {
    const found = dangers(configSchema.parse({ session, channels }));
    if (danger === null) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringMatching(danger)]);
  });

  test.each(owned)('A3/31: %s', (_, session, channels, danger) => {
    const found = dangers(configSchema.parse({ agent: { owners: ['telegram:1', 'irc:ann'] }, session, channels }));
    if (danger === null) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringMatching(danger)]);
  });

  test.each(['per-peer', 'per-channel-peer', 'per-account-channel-peer'])(
    'A3/24, 31: %s isolates them, so nothing is dangerous',
    (dmScope) => {
      expect(dangers(configSchema.parse({ session: { dmScope }, channels: { irc: {}, telegram: allow('1', '2') } }))).toEqual([]);
    },
  );

  test.each<[what: string, owners: string[], ids: string[], danger: RegExp | null]>([
    ['an id without a channel', ['ann'], ['telegram:1', '1001'], /^agent\.owners: .*"1001" .* any channel .*"<channel>:1001"/],
    ['ids of channels', ['ann'], ['telegram:1', 'irc:1001'], null],
    ["somebody's who is no owner", ['telegram:1'], ['1001'], null],
  ])('D7: who else may be the owner: %s', (_, owners, ids, danger) => {
    const found = dangers(configSchema.parse({ agent: { owners }, session: { identityLinks: { ann: ids } } }));
    expect(found).toEqual(danger === null ? [] : [expect.stringMatching(danger)]);
  });

  test('A3/31: session.strict refuses what is dangerous, and nothing else', () => {
    const config = (strict: boolean, channels: object) => configSchema.parse({ session: { strict }, channels });
    expect(() => refuseDangers(config(true, { irc: {} }))).toThrow(
      expect.objectContaining({ code: 'invalid', field: 'session.dmScope' }),
    );
    expect(() => refuseDangers(config(false, { irc: {} }))).not.toThrow();
    expect(() => refuseDangers(config(true, { irc: allow('ann') }))).not.toThrow();
  });
});

test('A5/66: an owner that no sender can be is told of', () => {
  const owners = (...given: string[]) =>
    dangers(configSchema.parse({ agent: { owners: given }, session: { identityLinks: { jo: ['irc:jo'] } } }));
  expect(owners('irc:ann', 'jo')).toEqual([]);
  expect(owners('ann')).toEqual([expect.stringContaining('"ann" matches nobody; write "<channel>:ann"')]);
});
