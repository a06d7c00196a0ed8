import fc from 'fast-check';
import { expect, test } from 'vitest';
import { actingSender } from '../../shared/context/running-turn.ts';
import { MemoryFold } from '../../shared/memory/fold.ts';
import { memoryReach, scopeName, scopeNames } from '../../shared/policy/memory-scope.ts';
import { onBehalfOf } from '../../shared/policy/on-behalf.ts';
import { type Identities, type IdentityLinks, identitiesOf } from '../../shared/routing/identity.ts';
import { parseKey, type SessionKey } from '../../shared/routing/session-key.ts';
import type { SessionEvent } from '../../shared/session/events.ts';
import type { MemoryScope } from '../../shared/session/memory.ts';
import { type IndexRow, summarize } from '../../shared/session/summary.ts';
import type { Sender } from '../../shared/session/types.ts';
import { commitTo, keyOf } from '../support/commits.ts';

/**
 * Random histories of several people, links between their ids, and sessions of every kind. Each memory is marked with everybody who had a
 * part in what it was made of; nobody else may come to read it but by a scope that says so.
 */
type Reach = typeof memoryReach;

const links: IdentityLinks = { ann: ['telegram:1', 'irc:1'], bob: ['telegram:2'], telegram: ['irc:9'] };
const identities: Identities = identitiesOf(links);
const addresses = ['telegram:1', 'irc:1', 'telegram:2', 'irc:2', 'irc:9', 'web:ann'];
const owner = 'irc:2';

/** As the router makes them. */
const person = fc.constantFrom(...addresses).map((address): Sender => {
  const [channel = '', id = ''] = address.split(':');
  const principal = identities.principalOf(channel, id);
  return { id, role: principal === owner ? 'owner' : 'participant', principal };
});
/** A program of nobody, a sub-agent of somebody, and what an owner's own program says of a sender. */
const program = fc.oneof(
  fc.constant<Sender>({ id: 'api', role: 'program' }),
  person.map((asker): Sender => ({ id: 'agent:main:main', role: 'program', principal: asker.principal, ...onBehalfOf(asker) })),
  fc.constant<Sender>({ id: 'several', role: 'program', onBehalfOf: 'participant' }),
  fc.constantFrom('ann', '1', 'telegram:1').map((id): Sender => ({ id, role: 'participant' })),
);
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

type Step =
  | { readonly kind: 'turn'; readonly key: SessionKey; readonly senders: readonly Sender[]; readonly choose: number }
  | { readonly kind: 'introspection'; readonly key: SessionKey; readonly choose: number }
  | { readonly kind: 'delete'; readonly key: SessionKey };
const key = fc.constantFrom(...sessions);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      key,
      choose: fc.nat(20),
      senders: fc.array(fc.oneof({ weight: 4, arbitrary: person }, program), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('introspection' as const), key, choose: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
);

/** The person behind a sender, said once more: links, or the id as it is. Programs are what they were set to work for. */
const whoIs = ({ principal, id, role }: Sender): string | null => {
  if (role === 'program' && principal === undefined) return null;
  const name = principal ?? id;
  return Object.entries(links).find(([, ids]) => ids.includes(name))?.[0] ?? name;
};

const isOwnSession = (text: SessionKey): boolean => ['main', 'dm'].includes(parseKey(text).kind);

/** What a history leads to that must not be: `null` if nothing. */
const leakOf = (reachOf: Reach, steps: readonly Step[]): string | null => {
  const fold = new MemoryFold();
  const rows = new Map<SessionKey, IndexRow>();
  /** Who had a part in a session since it began, and in a memory. */
  const present = new Map<SessionKey, Set<string>>();
  const authors = new Map<string, ReadonlySet<string>>();
  let seq = 0;

  const record = (on: SessionKey, events: SessionEvent[]): void => {
    seq++;
    const commit = { ...commitTo(on, { rev: seq, events }), seq, recordedAt: seq };
    rows.set(on, summarize(rows.get(on) ?? null, commit));
    fold.add(commit);
  };

  for (const one of steps) {
    if (one.kind === 'delete') {
      record(one.key, [
        { type: 'session_deleted', v: 1, mode: 'session', sessionId: 's', generation: 1, epoch: 1, turnIds: [], reason: '' },
      ]);
      present.delete(one.key);
      continue;
    }
    const senders = one.kind === 'turn' ? one.senders : [];
    const here = present.get(one.key) ?? new Set();
    present.set(one.key, here);
    for (const sender of senders) {
      const who = whoIs(sender);
      if (who !== null) here.add(who);
      record(one.key, [{ type: 'user_message', v: 1, message: { messageId: `${seq}`, text: 'x', sender } }]);
    }
    const participants = rows.get(one.key)?.participants ?? [];
    const sender = one.kind === 'turn' ? actingSender(senders) : undefined;
    const reach = reachOf({ key: one.key, participants, sender }, { mainKey: 'main', identities });

    // What the turn, or the look back, gets to read.
    const names = new Set(scopeNames(reach.read, one.key));
    for (const entry of fold.entries()) {
      if (!names.has(entry.scope) || entry.scope.startsWith('agent:') || entry.scope === scopeName({ kind: 'session' }, one.key))
        continue;
      const told = authors.get(entry.id) ?? new Set();
      for (const who of told) if (!here.has(who)) return `${one.key} reads of ${who} in ${entry.scope}`;
      for (const who of here) if (!told.has(who)) return `${who} reads ${entry.scope} in ${one.key}`;
    }

    // What it writes: any scope of its reach.
    const scope = reach.write[one.choose % Math.max(1, reach.write.length)];
    if (scope === undefined) return 'nothing can be remembered';
    if (scope.kind === 'agent') {
      const isOwner = senders.every((each) => each.role === 'owner') && senders.length > 0;
      if (!isOwner || !isOwnSession(one.key) || here.size !== 1) return `${one.key} writes for the agent`;
    }
    record(one.key, [
      {
        ...{ type: 'memory_changed', v: 1, by: 'agent', sessionId: 's', fromRev: 1, toRev: 1 },
        changes: [{ op: 'add', scope, text: 'x' }],
        reach: [...reach.write],
      } as SessionEvent,
    ]);
    authors.set(`${seq}-0`, new Set(here));
  }
  return null;
};

const isolated = (reachOf: Reach) => fc.property(fc.array(step, { maxLength: 40 }), (steps) => leakOf(reachOf, steps) === null);

test('I12, A7/82: what is remembered in a turn of one person is never read in a turn or a look back of another', () => {
  fc.assert(isolated(memoryReach), { numRuns: 1_000 });
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
test('A7/82: two scopes never have one name', () => {
  const scope = fc.oneof(
    fc.constant<MemoryScope>({ kind: 'agent' }),
    fc.constant<MemoryScope>({ kind: 'session' }),
    text.filter((principal) => principal.length > 0 && principal.isWellFormed()).map(personal),
  );
  fc.assert(
    fc.property(key, scope, key, scope, (one, a, other, b) => {
      if (scopeName(a, one) !== scopeName(b, other)) return true;
      if (a.kind !== b.kind) return false;
      if (a.kind === 'session') return one === other;
      const sameAgent = parseKey(one).agentId === parseKey(other).agentId;
      return sameAgent && JSON.stringify(a) === JSON.stringify(b);
    }),
    { numRuns: 5_000 },
  );
});
