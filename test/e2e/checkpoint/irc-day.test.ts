import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { mentionOf, parseIrcLine } from '../../../services/cli/ingest/irc.ts';
import { startRouter } from '../../../services/router/main.ts';
import { OfflineModel } from '../../../shared/adapters/model/offline.ts';
import type { ModelRequest } from '../../../shared/domain/prompt/model-request.ts';
import { type InboundEnvelope, inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Model } from '../../../shared/ports/model.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { coverageOf, faultsIn, lookedBackOnAll, openStage, type Stage } from './rig.ts';

/**
 * A7/80–84 on a day of real people, through the router, a session host and two checkpoint services on a real broker: a group, and the same
 * words as direct messages. The day is of the data that accompanies the project, where that is at hand; one of our own is always there.
 */
const day = new URL('../../../../shared/data/ubuntu-irc/2006-12-20.train-c.log', import.meta.url);
const most = 600;
interface Line {
  readonly nick: string;
  readonly text: string;
}
const ownDay: readonly Line[] = Array.from({ length: 120 }, (_, index) => ({
  nick: ['Amaranth', 'ubotu', 'Käthe', '[[a]]', 'A.b', 'a.B'][index % 30] ?? `nick-${index % 30}`,
  text: index % 7 === 0 ? `ubotu: remember that ${index} is a number.` : `line ${index}`,
}));
const realDay = (): readonly Line[] =>
  readFileSync(day, 'utf8')
    .split('\n')
    .flatMap((text) => {
      const line = parseIrcLine(text);
      return line.kind === 'message' || line.kind === 'action' ? [{ nick: line.nick, text: line.text }] : [];
    })
    .slice(0, most);
const days: [string, () => readonly Line[]][] = [
  ['a small day', () => ownDay],
  ...(existsSync(day) ? [['a day of #ubuntu', realDay] as [string, () => readonly Line[]]] : []),
];

const prefixOf = (name: string): string => name.replaceAll(/\W/g, '');

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ prefixes: days.map(([name]) => prefixOf(name)) });
});
afterAll(() => server.stop());

const isMention = mentionOf('ubotu');
const envelopeOf = ({ nick, text }: Line, index: number, kind: 'group' | 'direct'): InboundEnvelope =>
  inboundEnvelope.parse({
    id: `${kind}-${index}`,
    channel: 'irc',
    conversation: { id: kind === 'group' ? '#ubuntu' : nick, kind },
    sender: { id: nick },
    text,
    mentioned: isMention(text),
  });

/** A model that keeps what it was asked. */
const watched = (asked: ModelRequest[]): Model => {
  const offline = new OfflineModel(systemClock, 16_000);
  return {
    name: 'offline',
    windowTokens: offline.windowTokens,
    step: (request, onText, signal) => {
      asked.push(request);
      return offline.step(request, onText, signal);
    },
  };
};

const startServices = async (stage: Stage, asked: ModelRequest[][]) => {
  const { config, log, open } = stage;
  const router = await startRouter({ config: fixed(config), ports: await open('router'), log, member: 'router' });
  const checkpoints = await Promise.all(
    asked.map(async (own, index) => {
      const member = `checkpoint-${index}`;
      const theirs = await open('checkpoint');
      const introspection = { config, env: {}, model: watched(own) };
      return { service: await startCheckpoint({ ports: theirs, log, member, introspection }), ports: theirs };
    }),
  );
  return {
    metrics: () => checkpoints.map(({ service }) => service.metrics()),
    stop: async () => {
      await router.stop(2_000);
      for (const { service, ports: theirs } of checkpoints) {
        await service.stop(2_000);
        await theirs.close();
      }
    },
  };
};

describe.each(days)('%s', (name, linesOf) => {
  test('A7/80-84: every message is introspected once, and nobody sees the words of another session', async () => {
    const lines = linesOf();
    const stage = await openStage(server, prefixOf(name), {
      partitions: 16,
      more: { session: { dmScope: 'per-peer' }, agent: { owners: ['irc:Amaranth'] } },
    });
    const asked: ModelRequest[][] = [[], []];
    const services = await startServices(stage, asked);
    const owned = () => services.metrics().map(({ introspection_partitions: partitions = 0 }) => partitions);
    await expect.poll(() => Math.min(...owned())).toBeGreaterThan(0);
    const keys = async () => [...new Set((await stage.commits()).map(({ key }) => key))];
    const routed = async () =>
      expect
        .poll(async () => [await stage.ports.inbound.lag(), await stage.ports.commands.lag()], { timeout: 60_000, interval: 100 })
        .toEqual([0, 0]);
    let requests = 0;
    const part = Math.ceil(lines.length / 4);
    for (let begin = 0; begin < lines.length; begin += part) {
      const some = lines.slice(begin, begin + part);
      await Promise.all(
        some.flatMap((line, index) =>
          (['group', 'direct'] as const).map((kind) => stage.ports.inbound.publish(envelopeOf(line, begin + index, kind))),
        ),
      );
      await routed();
      // Some are asked for, some sessions begin anew, and of some nobody asks before the end.
      for (const [index, key] of (await keys()).entries()) {
        const id = `ask-${++requests}`;
        if (index % 3 === 0) await stage.send(key, { type: 'request_checkpoint', why: { reason: 'manual' } }, id);
        if (index % 3 === 1) {
          const cause = { trigger: 'command', rule: '/new', lastUpdateAt: 0 } as const;
          await stage.send(key, { type: 'reset', sessionId: `fresh-${id}`, cause }, id);
        }
      }
    }
    for (const key of await keys()) {
      await stage.send(key, { type: 'request_checkpoint', why: { reason: 'manual' } }, `last-${++requests}`);
    }
    await lookedBackOnAll(stage);
    const commits = await stage.commits();
    const metrics = services.metrics();
    await services.stop();
    await stage.close();

    expect(faultsIn(commits)).toEqual([]);
    const coverage = coverageOf(commits);
    expect([...coverage.keys()]).toEqual([1]);
    expect(coverage.get(1)?.filter((text) => !/ You said: /.test(text)).length).toBe(2 * lines.length);
    expect(commits.flatMap(({ events }) => events).filter(({ type }) => type === 'introspection_failed')).toEqual([]);

    // Each instance has done a part of it.
    for (const own of asked) expect(own.length).toBeGreaterThan(0);
    expect(metrics.map(({ introspection_requests_total: total }) => total).filter((total) => total === 0)).toHaveLength(1);

    // A prompt has the words of its own session, and of no other.
    const wordsOf = new Map<string, Set<string>>();
    for (const { key, events } of commits) {
      const words = wordsOf.get(key) ?? new Set();
      for (const event of events) if (event.type === 'user_message') words.add(event.message.text);
      wordsOf.set(key, words);
    }
    for (const { key, prompt } of asked.flat()) {
      const told = prompt
        .split('\n')
        .filter((line) => line.startsWith('{"role":"user"'))
        .map((line) => (JSON.parse(line) as { text: string }).text);
      expect(told.filter((text) => !wordsOf.get(key)?.has(text))).toEqual([]);
    }
  }, 180_000);
});
