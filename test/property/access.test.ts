import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canAccess, type Guarded, type Principal, personOf } from '../../shared/domain/access/access.ts';
import { type Identities, type IdentityLinks, identitiesOf } from '../../shared/domain/keys/identity.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { runs } from '../support/runs.ts';

type Rule = (asking: Principal, session: Guarded, identities: Identities) => boolean;

/** Few channels, ids and names, so that they meet; one channel's name begins another's, and an id looks like a key. */
const channel = fc.constantFrom('irc', 'irccloud', 'telegram');
const id = fc.constantFrom('1', '11', 'irc', 'telegram:dm:1');
const address = fc.tuple(channel, id).map(([on, who]) => `${on}:${who}`);
const person = fc.oneof(address, fc.constantFrom('ann', 'bob'));
const links: fc.Arbitrary<IdentityLinks> = fc
  .uniqueArray(address, { maxLength: 6 })
  .map((all) => ({ ann: all.filter((_, index) => index % 2 === 0), bob: all.filter((_, index) => index % 2 === 1) }));
const key = fc
  .tuple(fc.constantFrom('main', 'irc'), channel, fc.constantFrom('dm', 'group'), id)
  .map((parts) => `agent:${parts.join(':')}` as SessionKey);
const session = fc
  .oneof(key, fc.constantFrom('agent:main:main', 'agent:main:irc', 'global') as fc.Arbitrary<SessionKey>)
  .chain((one) =>
    fc.record({ key: fc.constant(one), participants: fc.array(person, { maxLength: 4 }), deletedSeq: fc.constant(0) }),
  );
const namespace = fc.oneof(channel, fc.constantFrom('irc:dm', 'telegram:group'));
const limited: fc.Arbitrary<Principal> = fc.oneof(
  person.map((principal) => ({ role: 'participant', principal }) as const),
  namespace.map((within) => ({ role: 'channel', namespace: within }) as const),
  fc.tuple(namespace, person).map(([within, principal]) => ({ role: 'channel', namespace: within, principal }) as const),
);

/** All names and ids of the person: said once more, from the links alone. */
const everybodyWhoIs = (principal: string, known: IdentityLinks): ReadonlySet<string> => {
  const linked = Object.entries(known).find(([name, ids]) => name === principal || ids.includes(principal));
  return new Set(linked ? [linked[0], ...linked[1]] : [principal]);
};

const isolated = (rule: Rule) =>
  fc.property(limited, session, links, (asking, one, known) => {
    const somebody = personOf(asking);
    if (!rule(asking, one, identitiesOf(known)) || somebody === undefined) return true;
    const same = everybodyWhoIs(somebody, known);
    return one.participants.some((participant) => same.has(participant));
  });

const withinNamespace = (rule: Rule) =>
  fc.property(limited, session, links, (asking, one, known) => {
    if (asking.role !== 'channel' || !rule(asking, one, identitiesOf(known))) return true;
    const wanted = asking.namespace.split(':');
    const [agent, , ...segments] = one.key.split(':');
    return agent === 'agent' && segments.length > wanted.length && wanted.every((segment, at) => segments[at] === segment);
  });

const complete = (rule: Rule) =>
  fc.property(limited, session, links, (asking, one, known) => {
    if (asking.role !== 'participant' || rule(asking, one, identitiesOf(known))) return true;
    const same = everybodyWhoIs(asking.principal, known);
    return !one.participants.some((participant) => same.has(participant));
  });

const properties = {
  'A8/89: nobody but the owner sees a session they take no part in': isolated,
  'A8/90: no namespace crosses a delimiter': withinNamespace,
  'A5/66-67: everybody sees all sessions they take part in, under any of their names': complete,
} as const;

/** Faults somebody could make, and the property that must find each. */
const faults: readonly (readonly [fault: string, property: keyof typeof properties, rule: Rule])[] = [
  [
    'a prefix of characters',
    'A8/90: no namespace crosses a delimiter',
    (asking, one, known) =>
      asking.role === 'channel' && asking.principal === undefined
        ? one.key.startsWith(`agent:main:${asking.namespace}`)
        : canAccess(asking, one, known),
  ],
  [
    'the namespace anywhere in the key',
    'A8/90: no namespace crosses a delimiter',
    (asking, one, known) =>
      asking.role === 'channel' && asking.principal === undefined
        ? one.key.includes(`:${asking.namespace}:`)
        : canAccess(asking, one, known),
  ],
  [
    'a person of the channel sees all of the channel',
    'A8/89: nobody but the owner sees a session they take no part in',
    (asking, one, known) =>
      canAccess(asking.role === 'channel' ? { role: 'channel', namespace: asking.namespace } : asking, one, known),
  ],
  [
    'the id without its channel',
    'A8/89: nobody but the owner sees a session they take no part in',
    (asking, one, known) =>
      canAccess(asking, one, known) ||
      (asking.role === 'participant' && one.participants.some((who) => who.endsWith(asking.principal.split(':').at(-1) ?? ''))),
  ],
  [
    'whoever the key names',
    'A8/89: nobody but the owner sees a session they take no part in',
    (asking, one, known) =>
      canAccess(asking, one, known) || (asking.role === 'participant' && one.key.endsWith(asking.principal.replace(':', ':dm:'))),
  ],
  [
    'links are not looked at',
    'A5/66-67: everybody sees all sessions they take part in, under any of their names',
    (asking, one) => canAccess(asking, one, identitiesOf({})),
  ],
];

describe('access, for any people, links and keys', () => {
  test.each(Object.entries(properties))('%s', (_, property) => {
    fc.assert(property(canAccess), { numRuns: runs(3_000) });
  });

  test.each(faults)('a planted fault is found: %s', (_, name, rule) => {
    expect(fc.check(properties[name](rule), { numRuns: 3_000, seed: 1 }).failed).toBe(true);
  });

  /** An id without a channel is theirs on any. */
  const looseLinks = fc
    .uniqueArray(
      fc.oneof(
        address,
        id.filter((one) => !one.includes(':')),
      ),
      { maxLength: 6 },
    )
    .map((all) => ({ ann: all.filter((_, index) => index % 2 === 0), bob: all.filter((_, index) => index % 2 === 1) }));

  test('A8/89: where a list looks for the sessions of a person are all those they may see', () => {
    const found = fc.property(person, session, looseLinks, (principal, one, known) => {
      const identities = identitiesOf(known);
      const aliases = identities.aliasesOf(principal);
      const isThere = aliases === null || one.participants.some((stored) => aliases.includes(stored));
      return isThere || !canAccess({ role: 'participant', principal }, one, identities);
    });
    fc.assert(found, { numRuns: runs(3_000) });
  });

  test('the random questions are answered yes and no often enough to prove something', () => {
    const asked = fc.sample(fc.tuple(limited, session, links), { numRuns: 2_000, seed: 1 });
    const yes = asked.filter(([asking, one, known]) => canAccess(asking, one, identitiesOf(known))).length;
    expect(yes / asked.length).toBeGreaterThan(0.1);
    expect(yes / asked.length).toBeLessThan(0.9);
  });
});
