import { existsSync, readFileSync } from 'node:fs';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { mentionOf, parseIrcLine } from '../../../services/cli/ingest/irc.ts';
import { startRouter } from '../../../services/router/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { type Config, configSchema } from '../../../shared/domain/config/schema.ts';
import { type InboundEnvelope, inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { strangersShare } from '../../../shared/domain/values/queue-share.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';

/**
 * A day of real people, through the router and a session host, under every scope: which sessions there are, and who reads whose words. The
 * day is of the data that accompanies the project, where that is at hand; a small one of our own is always there.
 */
const day = new URL('../../../../shared/data/ubuntu-irc/2006-12-20.train-c.log', import.meta.url);

interface Line {
  readonly nick: string;
  readonly text: string;
}
const ownDay: readonly Line[] = Array.from({ length: 60 }, (_, index) => ({
  nick: ['Amaranth', 'ubotu', 'Käthe', '[[a]]', 'A.b', 'a.B'][index % 6] ?? '',
  text: index % 7 === 0 ? `ubotu: tell me about ${index}` : `line ${index}`,
}));
const readDay = (): readonly Line[] =>
  readFileSync(day, 'utf8')
    .split('\n')
    .flatMap((text) => {
      const line = parseIrcLine(text);
      return line.kind === 'message' || line.kind === 'action' ? [{ nick: line.nick, text: line.text }] : [];
    });

const isMention = mentionOf('ubotu');
/** The same words in a group, or as direct messages on two networks in turn. */
const inGroup = ({ nick, text }: Line, index: number): InboundEnvelope =>
  inboundEnvelope.parse({
    id: `line-${index}`,
    channel: 'irc',
    conversation: { id: '#ubuntu', kind: 'group' },
    sender: { id: nick },
    text,
    mentioned: isMention(text),
  });
const asDirect = (line: Line, index: number): InboundEnvelope => ({
  ...inGroup(line, index),
  channel: Math.floor(index / 6) % 2 === 0 ? 'irc' : 'matrix',
  accountId: Math.floor(index / 12) % 2 === 0 ? 'work' : undefined,
  conversation: { id: line.nick, kind: 'direct' },
});

/** Routes and handles all envelopes; the commits in the order of the log. */
const live = async (envelopes: readonly InboundEnvelope[], session: object, channels: object = {}): Promise<RecordedCommit[]> => {
  const config: Config = configSchema.parse({ session, channels, agent: { owners: ['irc:Amaranth'], names: [] } });
  const ports = openInMemory({ clock: systemClock }).portsFor('all');
  const log = pino({ level: 'silent' });
  const host = await startSession({ config, ports, log, member: 'host', env: {} });
  const router = await startRouter({ config: fixed(config), ports, log, member: 'router' });
  const commits: RecordedCommit[] = [];
  const readOn = async (): Promise<readonly SessionEvent[]> => {
    for (let more = true; more; ) {
      const page = await ports.events.page({ after: commits.at(-1)?.seq ?? 0, limit: 1_000 });
      commits.push(...page.commits);
      more = page.more;
    }
    return commits.flatMap(({ events }) => events);
  };
  const unanswered = async (): Promise<number> => {
    const events = await readOn();
    const asked = events.filter((event) => event.type === 'user_message' && event.turnId !== undefined);
    return asked.length - events.filter(({ type }) => type === 'turn_completed').length;
  };
  // No more at a time than may wait in one session: nothing here is about a queue that is full.
  const atOnce = strangersShare(config.session.queue.limit).each;
  for (let from = 0; from < envelopes.length; from += atOnce) {
    for (const envelope of envelopes.slice(from, from + atOnce)) await ports.inbound.publish(envelope);
    await expect
      .poll(async () => [await ports.inbound.lag(), await ports.commands.lag(), await unanswered()], {
        timeout: 20_000,
        interval: 2,
      })
      .toEqual([0, 0, 0]);
  }
  await router.stop(1_000);
  await host.stop(1_000);
  return commits;
};

interface Heard {
  readonly key: string;
  readonly person: string;
  readonly text: string;
}
const heardIn = (commits: readonly RecordedCommit[]): Heard[] =>
  commits.flatMap(({ key, events }) =>
    events.flatMap((event) =>
      event.type === 'user_message' ? [{ key, person: event.message.sender.id, text: event.message.text }] : [],
    ),
  );

const scopes = ['main', 'per-peer', 'per-channel-peer', 'per-account-channel-peer'] as const;
/** The key each scope has for a direct message. */
const expectedKey = (
  scope: (typeof scopes)[number],
  { channel, accountId = 'default', sender: { id } }: InboundEnvelope,
): string => {
  switch (scope) {
    case 'main':
      return 'agent:main:main';
    case 'per-peer':
      return `agent:main:dm:${id}`;
    case 'per-channel-peer':
      return `agent:main:${channel}:dm:${id}`;
    case 'per-account-channel-peer':
      return `agent:main:${channel}:${accountId}:dm:${id}`;
  }
};

const days: [string, () => readonly Line[]][] = [
  ['a small day', () => ownDay],
  ...(existsSync(day) ? [['a day of #ubuntu', readDay] as [string, () => readonly Line[]]] : []),
];

describe.each(days)('%s', (_, linesOf) => {
  const lines = linesOf();

  test.each(scopes)('A3/24-28: direct messages under dmScope %s are in the sessions they belong to', async (dmScope) => {
    const envelopes = lines.map(asDirect);
    const heard = heardIn(await live(envelopes, { dmScope }));
    const expected = new Map(envelopes.map((envelope) => [envelope.text, expectedKey(dmScope, envelope)]));
    expect(new Set(heard.map(({ key }) => key))).toEqual(new Set(envelopes.map((envelope) => expectedKey(dmScope, envelope))));
    expect(heard).toHaveLength(lines.length);
    if (lines === ownDay) for (const { key, text } of heard) expect(key).toBe(expected.get(text));
  });

  test.each(scopes.slice(1))('A3/26-28: under %s nobody is ever in the session of somebody else', async (dmScope) => {
    const people = new Map<string, Set<string>>();
    for (const { key, person } of heardIn(await live(lines.map(asDirect), { dmScope }))) {
      people.set(key, (people.get(key) ?? new Set()).add(person));
    }
    expect([...people.values()].filter((there) => there.size !== 1)).toEqual([]);
    expect(people.size).toBeGreaterThan(5);
  });

  test('A3/29: linked ids are one person, whichever network they write from', async () => {
    const [one = '', other = ''] = [...new Set(lines.map(({ nick }) => nick))];
    const identityLinks = { jo: [`irc:${one}`, `matrix:${one}`, `irc:${other}`] };
    const heard = heardIn(await live(lines.map(asDirect), { dmScope: 'per-peer', identityLinks }));
    expect(new Set(heard.filter(({ person }) => person === one).map(({ key }) => key))).toEqual(new Set(['agent:main:dm:jo']));
    expect(new Set(heard.filter(({ person }) => person === other).map(({ key }) => key))).toContain('agent:main:dm:jo');
  });

  test.each([
    [true, 'A6/73-75: in a group the owner and who mentions the agent are answered, the rest is remembered'],
    [false, 'C19: with ownerTriggers off only who mentions the agent is answered'],
  ])('ownerTriggers %s: %s', async (ownerTriggers) => {
    const commits = await live(lines.map(inGroup), {}, { irc: { ownerTriggers } });
    expect(new Set(commits.map(({ key }) => key))).toEqual(new Set(['agent:main:irc:group:#ubuntu']));
    expect(heardIn(commits)).toHaveLength(lines.length);
    const asked = commits.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'user_message' && event.turnId !== undefined ? [event.message.sender.id] : [])),
    );
    const triggers = lines.filter(({ nick, text }) => isMention(text) || (ownerTriggers && nick === 'Amaranth'));
    expect(asked).toEqual(triggers.map(({ nick }) => nick));
  });
});
