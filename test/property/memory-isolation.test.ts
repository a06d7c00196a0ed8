import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryFold } from '../../services/checkpoint/memory/fold.ts';
import { placeOf } from '../../services/gateway/context/memory-list.ts';
import { actingSender } from '../../services/session/prompt/running-turn.ts';
import { onBehalfOf } from '../../services/session/tools/on-behalf.ts';
import { type Identities, identitiesOf } from '../../shared/domain/keys/identity.ts';
import { parseKey, type SessionKey } from '../../shared/domain/keys/session-key.ts';
import { memoryReach, parseScopeName, scopeName, scopeNames } from '../../shared/domain/memory/memory-scope.ts';
import type { IndexRow } from '../../shared/domain/projections/index-row.ts';
import { summarize } from '../../shared/domain/projections/summary.ts';
import type { SessionEvent } from '../../shared/domain/session/events.ts';
import type { MemoryChange, MemoryScope } from '../../shared/domain/values/memory-edit.ts';
import type { Sender } from '../../shared/domain/values/types.ts';
import { commitTo, keyOf, recorded } from '../support/domain/commits.ts';
import { changed, deleted } from '../support/memories.ts';
import { runs } from '../support/runs.ts';

/**
 * Random histories of several people whose ids are linked and unlinked, and sessions of every kind that are deleted and erased. Each memory is
 * marked with everybody who had a part in what it was made of; nobody else may come to read it but by a scope that says so.
 */
type Reach = typeof memoryReach;

/** Who somebody is, whatever the links say of it: those are true, and not always complete. */
const people: Readonly<Record<string, readonly string[]>> = {
  ann: ['telegram:1', 'irc:1'],
  bob: ['telegram:2'],
  telegram: ['irc:9'],
};
const addresses = ['telegram:1', 'irc:1', 'telegram:2', 'irc:2', 'irc:9', 'web:ann'];
const owner = 'irc:2';
const whoIs = (name: string): string => Object.entries(people).find(([, ids]) => ids.includes(name))?.[0] ?? name;

/** Somebody says something: a person, a sub-agent of theirs, a program of nobody, and what an owner's own program says of a sender. */
type Speaker =
  | { readonly as: 'person' | 'subagent'; readonly address: string }
  | { readonly as: 'sender'; readonly sender: Sender };
const address = fc.constantFrom(...addresses);
const speaker: fc.Arbitrary<Speaker> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ as: fc.constant('person' as const), address }) },
  { weight: 1, arbitrary: fc.record({ as: fc.constant('subagent' as const), address }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<Sender>(
        { id: 'api', role: 'program' },
        { id: 'several', role: 'program', onBehalfOf: 'participant' },
        ...['ann', '1', 'telegram:1'].map((id): Sender => ({ id, role: 'participant' })),
      )
      .map((sender) => ({ as: 'sender' as const, sender })),
  },
);
/** As the router makes them, by the links as they are then. */
const senderOf = (said: Speaker, identities: Identities): Sender => {
  if (said.as === 'sender') return said.sender;
  const [channel = '', id = ''] = said.address.split(':');
  const principal = identities.principalOf(channel, id);
  const asker: Sender = { id, role: said.address === owner ? 'owner' : 'participant', principal };
  return said.as === 'person' ? asker : { id: 'agent:main:main', role: 'program', principal, ...onBehalfOf(asker) };
};
const sessions = [
  'agent:main:main',
  'agent:main:dm:ann',
  'agent:main:dm:1',
  'agent:main:telegram:dm:1',
  'agent:main:irc:dm:2',
  'agent:main:telegram:group:-100',
  'agent:main:telegram:group:-100:topic:dm:1',
  'agent:main:discord:channel:dm',
  'agent:main:subagent:0-1',
  'agent:main:cron:ann',
  'agent:main:api:openai:dm:ann',
  'agent:main:web:ann',
  'agent:main:global',
  'agent:work:main',
  'agent:work:telegram:dm:1',
].map(keyOf);

/** Half of all happens where most can go wrong. */
const key = fc.oneof(fc.constantFrom(...sessions), fc.constantFrom(...sessions.slice(0, 4)));
const choose = fc.nat(59);
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      ...{ kind: fc.constant('turn' as const), key, choose },
      speakers: fc.array(speaker, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('introspection' as const), key, choose }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), key, mode: fc.constantFrom('session', 'key', 'erased') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      links: fc.record(Object.fromEntries(Object.entries(people).map(([name, ids]) => [name, fc.subarray([...ids])]))),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const isOwnSession = (text: SessionKey): boolean => ['main', 'dm'].includes(parseKey(text).kind);

/** What a history leads to that must not be: `null` if nothing. */
const leakOf = (reachOf: Reach, steps: readonly Step[]): string | null => {
  const fold = new MemoryFold();
  const rows = new Map<SessionKey, IndexRow>();
  /** Who had a part in a session since it began, and in a memory, and the sessions that the memory is from. */
  const present = new Map<SessionKey, Set<string>>();
  const authors = new Map<string, Set<string>>();
  const origins = new Map<string, Set<SessionKey>>();
  let identities = identitiesOf({});
  let seq = 0;

  const record = (on: SessionKey, events: SessionEvent[]): void => {
    seq++;
    const commit = recorded(commitTo(on, { rev: seq, events }), seq, seq);
    rows.set(on, summarize(rows.get(on) ?? null, commit));
    fold.add(commit);
  };
  const change = (on: SessionKey, one: MemoryChange, reach: readonly MemoryScope[]): void =>
    record(on, [{ ...changed([one], [...reach]) }]);
  const entryOf = (id: string) => [...fold.entries()].find((entry) => entry.id === id);

  for (const one of steps) {
    if (one.kind === 'link') {
      identities = identitiesOf(Object.fromEntries(Object.entries(one.links).filter(([, ids]) => ids.length > 0)));
      continue;
    }
    if (one.kind === 'delete') {
      record(one.key, [deleted(one.mode as 'session')]);
      present.delete(one.key);
      const left = [...fold.entries()].find(({ id }) => one.mode === 'erased' && origins.get(id)?.has(one.key));
      if (left) return `${left.id} outlives ${one.key}`;
      continue;
    }
    const senders = one.kind === 'turn' ? one.speakers.map((said) => senderOf(said, identities)) : [];
    const wrote = present.get(one.key) ?? new Set();
    present.set(one.key, wrote);
    const programsOf = new Set<string>();
    for (const [at, sender] of senders.entries()) {
      const said = one.kind === 'turn' ? one.speakers[at] : undefined;
      const name = said !== undefined && said.as !== 'sender' ? said.address : sender.id;
      if (sender.role !== 'program') wrote.add(whoIs(name));
      else if (sender.principal !== undefined) programsOf.add(whoIs(name));
      record(one.key, [{ type: 'user_message', v: 1, message: { messageId: `${seq}`, text: 'x', sender } }]);
    }
    // A program has no part in what comes after its turn.
    const here = new Set([...wrote, ...programsOf]);
    const participants = rows.get(one.key)?.participants ?? [];
    const sender = one.kind === 'turn' ? actingSender(senders) : undefined;
    const reach = reachOf({ key: one.key, participants, sender }, { mainKey: 'main', identities });

    // What the turn, or the introspection, gets to read.
    const names = new Set(scopeNames(reach.read, one.key));
    for (const entry of fold.entries()) {
      if (!names.has(entry.scope) || entry.scope.startsWith('agent:') || entry.scope === scopeName({ kind: 'session' }, one.key))
        continue;
      const told = authors.get(entry.id) ?? new Set();
      for (const who of told) if (!here.has(who)) return `${one.key} reads of ${who} in ${entry.scope}`;
      for (const who of here) if (!told.has(who)) return `${who} reads ${entry.scope} in ${one.key}`;
    }

    // What it changes: any memory there is, whether it may or not, or something new in any scope that it may write to.
    const writes = scopeNames(reach.write, one.key);
    const victim = [...fold.entries()][one.choose];
    if (victim !== undefined) {
      const isForget = one.choose % 2 === 0;
      change(
        one.key,
        isForget ? { op: 'forget', id: victim.id, reason: '' } : { op: 'update', id: victim.id, text: 'y' },
        reach.write,
      );
      const after = entryOf(victim.id);
      if (!writes.includes(victim.scope) && after !== victim) return `${one.key} changes ${victim.scope}`;
      if (after === undefined || after === victim) continue;
      for (const who of here) authors.get(victim.id)?.add(who);
      origins.get(victim.id)?.add(one.key);
      continue;
    }
    const scope = reach.write[one.choose % Math.max(1, reach.write.length)];
    if (scope === undefined) return 'nothing can be remembered';
    if (scope.kind === 'agent') {
      const isOwner = senders.every((each) => each.role === 'owner') && senders.length > 0;
      if (!isOwner || !isOwnSession(one.key) || here.size !== 1) return `${one.key} writes for the agent`;
    }
    change(one.key, { op: 'add', scope, text: 'x' }, reach.write);
    authors.set(`${seq}-0`, new Set(here));
    origins.set(`${seq}-0`, new Set([one.key]));
  }
  return null;
};

const isolated = (reachOf: Reach) => fc.property(fc.array(step, { maxLength: 40 }), (steps) => leakOf(reachOf, steps) === null);

test('I12, A7/82: what is remembered in a turn of one person is never read in a turn or an introspection of another', () => {
  fc.assert(isolated(memoryReach), { numRuns: runs(1_000) });
});

const personal = (principal: string): MemoryScope => ({ kind: 'person', principal });
const broken: Record<string, Reach> = {
  'that forgets who wrote here before': ({ participants: _, ...place }, rules) =>
    memoryReach({ ...place, participants: [] }, rules),
  'that forgets who is writing': ({ sender: _, ...place }, rules) => memoryReach(place, rules),
  'that knows no kinds of sessions': (place, rules) => memoryReach({ ...place, key: keyOf('agent:main:main') }, rules),
  'that takes anybody for whoever asks': (place, rules) => {
    const reach = memoryReach(place, rules);
    const who = place.sender?.principal;
    return who === undefined ? reach : { ...reach, read: [...reach.read, personal(who)] };
  },
  'that lets everybody write for the agent': (place, rules) => ({ ...memoryReach(place, rules), write: [{ kind: 'agent' }] }),
};
test.each(Object.entries(broken))('the property notices a rule %s', (_, rule) => {
  expect(fc.check(isolated(rule), { numRuns: 100_000, endOnFailure: true }).failed).toBe(true);
});

const text = fc.oneof(fc.constantFrom('a', 'a:b', ':', '%3A', 'dm:1', 'main', 'x y', 'é', '\u0000'), fc.string({ maxLength: 6 }));
const scope = fc.oneof(
  fc.constant<MemoryScope>({ kind: 'agent' }),
  fc.constant<MemoryScope>({ kind: 'session' }),
  text.filter((principal) => principal.length > 0 && principal.isWellFormed()).map(personal),
);
test('A7/82: a name says whose memory it is, also of a session without an agent', () => {
  fc.assert(
    fc.property(fc.oneof(key, fc.constantFrom('main', 'telegram:dm:1').map(keyOf)), scope, (one, a) => {
      const parsed = parseScopeName(scopeName(a, one));
      expect(parsed).toMatchObject({ scope: a, agentId: parseKey(one).agentId });
      if (parsed) expect(scopeName(parsed.scope, placeOf(parsed))).toBe(scopeName(a, one));
    }),
  );
});
test('A7/82: two scopes never have one name', () => {
  fc.assert(
    fc.property(key, scope, key, scope, (one, a, other, b) => {
      if (scopeName(a, one) !== scopeName(b, other)) return true;
      if (a.kind !== b.kind) return false;
      if (a.kind === 'session') return one === other;
      const sameAgent = parseKey(one).agentId === parseKey(other).agentId;
      return sameAgent && JSON.stringify(a) === JSON.stringify(b);
    }),
    { numRuns: runs(5_000) },
  );
});
