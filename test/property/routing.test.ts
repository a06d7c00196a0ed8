import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Config, configSchema } from '../../shared/domain/config/schema.ts';
import { identitiesOf } from '../../shared/domain/keys/identity.ts';
import { canonicalKey } from '../../shared/domain/keys/legacy-key.ts';
import { buildKey, isProgramSource, type ParsedKey, parseKey, type SessionKey } from '../../shared/domain/keys/session-key.ts';
import { placing } from '../../shared/domain/routing/envelope-key.ts';
import { type InboundEnvelope, inboundEnvelope } from '../../shared/domain/routing/inbound-envelope.ts';
import { createRoute, type Routed } from '../../shared/domain/routing/route.ts';
import { commandEnvelope } from '../../shared/domain/session/envelope.ts';
import { limits } from '../../shared/kit/limits.ts';
import { encode, encodeCommand, encodeInbound } from '../../shared/wire/codec.ts';
import { holds } from '../support/domain/arbitraries.ts';
import { runs } from '../support/runs.ts';

/** Few and dangerous parts, so that two envelopes come close to each other: separators, words of keys, names of people. */
const words = [
  'a',
  'A',
  'b',
  'dm',
  'group',
  'channel',
  'topic',
  'main',
  'node-a',
  'cron',
  'telegram',
  'alice',
  'default',
  'global',
];
const id = fc.oneof(
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(':')),
  fc.string({ unit: fc.constantFrom(...'aA:-é😀'), minLength: 1, maxLength: 4 }),
);
const channel = fc.constantFrom(
  'telegram',
  'irc',
  'dm',
  'group',
  'channel',
  'node-a',
  'agent',
  'cron',
  'hook',
  'node',
  'cli',
  'main',
);
const links = { alice: ['telegram:a', 'irc:b', 'irc:a:b'], bob: ['irc:A', 'telegram:bob'] };
const envelopes = fc
  .record({
    channel,
    accountId: fc.option(id, { nil: undefined }),
    conversation: fc.record({
      id,
      kind: fc.constantFrom('direct', 'group', 'channel'),
      threadId: fc.option(id, { nil: undefined }),
    }),
    sender: fc.record({ id }),
    agentId: fc.constantFrom(undefined, 'main', 'agent'),
    mentioned: fc.boolean(),
    kind: fc.constantFrom('message', 'meta'),
    text: fc.oneof(fc.string(), fc.constantFrom('/new', '/new x', '/stop', '/send on', 'hello')),
  })
  .map((fields): InboundEnvelope => inboundEnvelope.parse({ id: 'm1', at: 1_700_000_000_000, ...fields }));
const scopes = fc.record({
  scope: fc.constantFrom('per-sender', 'global'),
  dmScope: fc.constantFrom('main', 'per-peer', 'per-channel-peer', 'per-account-channel-peer'),
  mainKey: fc.constantFrom('main', 'node-a', 'a', 'dm'),
  identityLinks: fc.constantFrom({}, links),
});
type Scopes = typeof scopes extends fc.Arbitrary<infer T> ? T : never;
const configured = (session: object): Config => configSchema.parse({ agent: { owners: ['alice'], names: ['a'] }, session });

/** The person who writes, worked out in another way than the product does: the links are small enough to look through. */
const personOf = ({ channel, sender }: InboundEnvelope, { identityLinks }: Scopes): string | undefined =>
  Object.entries(identityLinks).find(([, ids]) => (ids as readonly string[]).includes(`${channel}:${sender.id}`))?.[0];

/** What makes two messages belong to one conversation, in the words of the specification and with no key in sight (A3/22-39). */
const conversationOf = (envelope: InboundEnvelope, session: Scopes): unknown[] => {
  const { channel, accountId = 'default', conversation, sender, agentId = 'main' } = envelope;
  const { kind, id, threadId } = conversation;
  if (isProgramSource(channel)) return [agentId, 'program', channel, id];
  if (session.scope === 'global') return [agentId, 'global'];
  if (kind !== 'direct') return [agentId, kind, channel, id, threadId ?? null];
  const person = personOf(envelope, session);
  const peer = person === undefined ? ['id', sender.id] : ['person', person];
  switch (session.dmScope) {
    case 'main':
      return [agentId, 'main'];
    case 'per-peer':
      return [agentId, 'peer', ...peer];
    case 'per-channel-peer':
      return [agentId, 'peer', ...peer, channel];
    default:
      return [agentId, 'peer', ...peer, channel, accountId];
  }
};

/** The key of an envelope, or `null`. */
type Keying = (envelope: InboundEnvelope, session: Scopes) => string | null;
const keying: Keying = (envelope, session) => {
  const placed = placing(configured(session), identitiesOf(session.identityLinks))(envelope);
  return 'key' in placed ? placed.key : null;
};

/** Keys put together without care, as somebody would write it in a hurry. */
const careless: Keying = (envelope, session) => {
  const { channel, accountId = 'default', conversation, sender, agentId = 'main' } = envelope;
  const { kind, id, threadId } = conversation;
  const sound = keying(envelope, session);
  if (sound !== null || isProgramSource(channel) || session.scope === 'global') return sound;
  if (kind !== 'direct') return ['agent', agentId, channel, kind, id, ...(threadId ? ['topic', threadId] : [])].join(':');
  const peer = personOf(envelope, session) ?? sender.id;
  const front = { main: [], 'per-peer': [], 'per-channel-peer': [channel], 'per-account-channel-peer': [channel, accountId] };
  return session.dmScope === 'main'
    ? sound
    : ['agent', agentId, ...(front[session.dmScope as keyof typeof front] ?? []), 'dm', peer].join(':');
};

/** Two envelopes, often with parts in common. */
const related = fc
  .tuple(envelopes, envelopes, scopes, fc.subarray(['channel', 'accountId', 'conversation', 'sender', 'agentId'] as const))
  .map(([one, other, session, common]) => ({
    one,
    other: { ...other, ...Object.fromEntries(common.map((name) => [name, one[name]])) } as InboundEnvelope,
    session,
  }));

/** The same words cut in two places: into an id and a thread, or an account and a peer. Without care they make the same key. */
const cut = fc
  .tuple(
    envelopes,
    scopes,
    fc.array(fc.constantFrom('a', 'topic', 'dm', 'group'), { minLength: 3, maxLength: 5 }),
    fc.nat(4),
    fc.nat(4),
  )
  .map(([envelope, session, tokens, first, second]) => {
    const at = (place: number): InboundEnvelope => {
      const [head, tail] = [tokens.slice(0, place).join(':'), tokens.slice(place + 1).join(':')];
      const whole = { ...envelope, channel: 'irc', sender: { id: tokens.join(':') }, accountId: undefined };
      if (head === '' || tail === '')
        return { ...whole, conversation: { ...envelope.conversation, id: tokens.join(':'), threadId: undefined } };
      return {
        ...whole,
        conversation: { ...envelope.conversation, id: head, threadId: tail },
        accountId: head,
        sender: { id: tail },
      };
    };
    return { one: at(first), other: at(second), session };
  });
/** An envelope, and the same with one small difference. */
const alike = fc.tuple(envelopes, scopes, fc.nat(3)).map(([one, session, which]) => {
  const { conversation, sender } = one;
  const shout = (text: string): string => text.toUpperCase();
  const changes: Partial<InboundEnvelope>[] = [
    { sender: { id: shout(sender.id) } },
    { conversation: { ...conversation, id: shout(conversation.id) } },
    { conversation: { ...conversation, threadId: conversation.threadId === undefined ? '1' : undefined } },
    { accountId: `${one.accountId}1` },
  ];
  return { one, other: { ...one, ...changes[which] }, session };
});
/** Two direct messages of people whom the links know, and of a stranger who bears such a name. */
const addresses = [...Object.values(links).flat(), 'irc:alice', 'irc:bob', 'telegram:bob', 'telegram:c'];
const known = fc
  .tuple(envelopes, scopes, fc.constantFrom(...addresses), fc.constantFrom(...addresses))
  .map(([envelope, session, first, second]) => {
    const at = (address: string): InboundEnvelope => {
      const [channel = '', ...rest] = address.split(':');
      return { ...envelope, channel, sender: { id: rest.join(':') }, conversation: { id: 'x', kind: 'direct' } };
    };
    return { one: at(first), other: at(second), session };
  });
const pairs = fc.oneof(related, cut, alike, known);

describe('session keys', () => {
  test('A3/20-39: two messages have one key if and only if they are of one conversation', () => {
    const injective =
      (key: Keying) =>
      ({ one, other, session }: { one: InboundEnvelope; other: InboundEnvelope; session: Scopes }) => {
        const [first, second] = [key(one, session), key(other, session)];
        if (first === null || second === null) return;
        const same = JSON.stringify(conversationOf(one, session)) === JSON.stringify(conversationOf(other, session));
        expect(first === second).toBe(same);
      };
    holds(
      pairs,
      injective(keying),
      {
        'what is ambiguous is not refused': injective(careless),
        'the account is left out': injective((envelope, session) => keying({ ...envelope, accountId: undefined }, session)),
        'the thread is left out': injective((envelope, session) =>
          keying({ ...envelope, conversation: { ...envelope.conversation, threadId: undefined } }, session),
        ),
        'case is folded': injective((envelope, session) => keying(envelope, session)?.toLowerCase() ?? null),
        'links are not looked at': injective((envelope, session) => keying(envelope, { ...session, identityLinks: {} })),
        'a stranger may take a linked name': injective((envelope, session) => {
          const isName = Object.hasOwn(session.identityLinks, envelope.sender.id);
          return keying(envelope, isName ? { ...session, identityLinks: {} } : session);
        }),
      },
      3_000,
    );
  });

  test('A3/26-28: under a scope per peer no message of one peer is ever in the session of another', () => {
    const isolated =
      (key: Keying) =>
      ({ one, other, session }: { one: InboundEnvelope; other: InboundEnvelope; session: Scopes }) => {
        const isolating = session.scope === 'per-sender' && session.dmScope !== 'main';
        const direct = [one, other].every(
          ({ channel, conversation }) => conversation.kind === 'direct' && !isProgramSource(channel),
        );
        if (!isolating || !direct || one.sender.id === other.sender.id) return;
        const [person, another] = [personOf(one, session), personOf(other, session)];
        if (person !== undefined && person === another) return;
        const found = key(one, session);
        if (found !== null) expect(found).not.toBe(key(other, session));
      };
    holds(
      pairs,
      isolated(keying),
      {
        'all are in one session': isolated((envelope, session) => keying(envelope, { ...session, dmScope: 'main' })),
        'ids end at ":"': isolated((envelope, session) =>
          keying({ ...envelope, sender: { id: envelope.sender.id.split(':')[0] ?? '' } }, session),
        ),
      },
      3_000,
    );
  });

  test('A3/20-41: taking a key apart and putting it together again gives the same key', () => {
    const segments = fc.array(fc.constantFrom(...words, 'x', '#'), { minLength: 1, maxLength: 6 });
    const parts = fc.record(
      {
        agentId: fc.constantFrom('main', 'agent'),
        kind: fc.constantFrom<ParsedKey['kind']>(
          'main',
          'global',
          'dm',
          'group',
          'channel',
          'cron',
          'hook',
          'node',
          'cli',
          'other',
        ),
        channel,
        accountId: id,
        id,
        threadId: id,
      },
      { requiredKeys: ['agentId', 'kind'] },
    );
    holds(
      fc.tuple(segments, parts),
      ([rest, given]) => {
        const key = `agent:main:${rest.join(':')}`;
        const parsed = parseKey(key);
        if (parsed.kind !== 'group' && parsed.kind !== 'channel' ? true : parsed.channel !== undefined) {
          expect(buildKey(parsed)).toEqual({ key });
        }
        const built = buildKey(given as ParsedKey);
        if ('key' in built) expect(buildKey(parseKey(built.key))).toEqual(built);
      },
      {
        'a thread is forgotten': ([rest]) => {
          const key = `agent:main:${rest.join(':')}`;
          const { threadId: _, ...parsed } = parseKey(key);
          if (parsed.channel !== undefined) expect(buildKey(parsed)).toEqual({ key });
        },
      },
      1_000,
    );
  });

  test('C2: the stored form of a stored key is itself, and short forms of two kinds never meet', () => {
    const context = { agentId: 'main', mainKey: 'main', scope: 'per-sender' } as const;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words, 'x'), { minLength: 1, maxLength: 5 }), (parts) => {
        const result = canonicalKey(parts.join(':'), context);
        if ('problem' in result) return;
        expect(canonicalKey(result.key, context)).toEqual(result);
        expect(parseKey(result.key).agentId).toBe(parts[0] === 'agent' ? parts[1] : 'main');
      }),
      { numRuns: runs(1_000) },
    );
  });
});

/** An envelope with everything in it that routing takes over, and a text that makes it as large as wanted. */
const laden = fc
  .record({
    over: fc.integer({ min: -600, max: 600 }),
    unit: fc.constantFrom('x', 'é', '日', '😀'),
    kind: fc.constantFrom('direct', 'group', 'channel'),
    fill: fc.constantFrom('y', 'é', '日'),
    owner: fc.boolean(),
  })
  .map(({ over, unit, kind, fill, owner }) => {
    const bare = inboundEnvelope.parse({
      ...{ id: 'i'.repeat(128), channel: `c${'h'.repeat(31)}`, accountId: fill.repeat(128), provider: fill.repeat(64) },
      ...{ from: fill.repeat(512), to: fill.repeat(512), text: '', at: 1, order: '9'.repeat(20) },
      conversation: {
        ...{ id: 'g'.repeat(64), kind, threadId: 't'.repeat(64) },
        ...{ label: fill.repeat(256), subject: fill.repeat(256), channel: fill.repeat(256), space: fill.repeat(256) },
      },
      sender: { id: owner ? 'alice' : fill.repeat(200), name: fill.repeat(256) },
      deliverTo: { channel: 'd'.repeat(64), to: fill.repeat(512), accountId: fill.repeat(128), threadId: fill.repeat(128) },
      source: { kind: 's'.repeat(32), interactive: true, ids: { a: fill.repeat(256), b: fill.repeat(256) } },
    });
    return { bare, over, unit };
  });
const sizeOf = (envelope: InboundEnvelope): number => encode(envelope).byteLength;

describe('an envelope that is accepted can be processed (F11)', () => {
  test('whatever it carries, its command fits where it does; else it is refused at once, with the field and the limit', () => {
    let refusals = 0;
    const property = (limit: number) => (given: { bare: InboundEnvelope; over: number; unit: string }) => {
      const { bare, over, unit } = given;
      const room = limit + over - sizeOf(bare) - 5;
      const envelope = { ...bare, text: unit.repeat(Math.floor(room / Buffer.byteLength(unit))) };
      try {
        encodeInbound(envelope);
      } catch (error) {
        refusals += 1;
        expect(error).toMatchObject({ code: 'too_large', field: 'text' });
        expect(sizeOf(envelope)).toBeGreaterThan(limits.inboundBytes);
        if (limit === limits.inboundBytes) return;
      }
      const routed = createRoute(configured({}))(envelope, 1_800_000_000_000);
      if (!('command' in routed)) throw new Error(JSON.stringify(routed));
      encodeCommand(routed.command);
    };
    holds(laden, property(limits.inboundBytes), { 'routing gets no room': property(limits.commandBytes) }, 40);
    expect(refusals).toBeGreaterThan(5);
  });
});

/** Commands that change a session for everybody in it. */
const changing = new Set(['reset', 'compact', 'patch_session', 'fork', 'delete_session', 'deactivate_session']);
type Routing = (envelope: InboundEnvelope, session: Scopes) => Routed;
const routing: Routing = (envelope, session) => createRoute(configured(session))(envelope, 1_800_000_000_000);

describe('who may command', () => {
  const commanding = envelopes.chain((envelope) =>
    fc
      .record({
        text: fc
          .tuple(
            fc.constantFrom('', 'a ', '@a: ', ' '),
            fc.constantFrom(
              '/new',
              '/reset hi',
              '/NEW@a',
              '/stop',
              '/compact',
              '/compact it',
              '/send on',
              '/send inherit',
              '/pair x',
            ),
          )
          .map((parts) => parts.join('')),
        mentioned: fc.boolean(),
        sessionKey: fc.constantFrom(undefined, undefined, 'main', 'agent:main:telegram:dm:a', 'group:a'),
      })
      .map((more): InboundEnvelope => ({ ...envelope, kind: 'message', ...more })),
  );

  test("D7: no stranger's text changes a session that others are in, or stops what others asked for", () => {
    let commands = 0;
    const held =
      (route: Routing) =>
      ({ envelope, session }: { envelope: InboundEnvelope; session: Scopes }) => {
        const { channel, conversation, sessionKey } = envelope;
        if (personOf(envelope, session) === 'alice') return;
        const isProgram = isProgramSource(channel);
        const isolating = session.scope === 'per-sender' && session.dmScope !== 'main';
        const isOwn = conversation.kind === 'direct' && sessionKey === undefined && (isProgram || isolating);
        const routed = route(envelope, session);
        if (!('command' in routed) || isOwn) return;
        const { data } = routed.command;
        commands += 1;
        expect(changing).not.toContain(data.type);
        if (data.type === 'stop') expect(data.by?.id).toBe(envelope.sender.id);
      };
    const ownedBy = (envelope: InboundEnvelope, session: Scopes): Config => ({
      ...configured(session),
      agent: { ...configured(session).agent, owners: [`${envelope.channel}:${envelope.sender.id}`, ...Object.keys(links)] },
    });
    const unnamed =
      (route: Routing): Routing =>
      (envelope, session) => {
        const routed = route(envelope, session);
        if (!('command' in routed) || routed.command.data.type !== 'stop') return routed;
        const { by: _, ...data } = routed.command.data;
        return { command: { ...routed.command, data } };
      };
    holds(
      fc.record({ envelope: commanding, session: scopes }),
      held(routing),
      {
        'whoever may write may command': held((envelope, session) => createRoute(ownedBy(envelope, session))(envelope, 1)),
        'a direct chat counts as its own, whatever the scope': held((envelope, session) =>
          routing(envelope, { ...session, scope: 'per-sender', dmScope: 'per-peer' }),
        ),
        'a session that a hook chose counts as its own': held((envelope, session) =>
          routing({ ...envelope, sessionKey: undefined }, session),
        ),
        'a stop stops everything': held(unnamed(routing)),
      },
      2_000,
    );
    expect(commands).toBeGreaterThan(500);
  });
});

describe('routing', () => {
  test('every command is one that a session host accepts, and the same again for the same envelope (I2)', () => {
    let commands = 0;
    fc.assert(
      fc.property(envelopes, scopes, (envelope, session) => {
        const config = configured(session);
        const routed = createRoute(config)(envelope, 1_800_000_000_000);
        expect(createRoute(config)(envelope, 1_900_000_000_000)).toEqual(routed);
        if (!('command' in routed)) return;
        commands += 1;
        expect(commandEnvelope.parse(routed.command)).toEqual(routed.command);
        expect(parseKey(routed.command.key as SessionKey, session.mainKey).kind).not.toBe('unknown');
      }),
      { numRuns: runs(1_000) },
    );
    expect(commands).toBeGreaterThan(300);
  });
});
