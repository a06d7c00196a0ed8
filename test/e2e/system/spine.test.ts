import { randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { Unpackr } from 'msgpackr';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { allOn } from '../../../services/session/turn/safety-toggles.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { fold, initialState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';

/** The whole spine on a real broker, once with sessions kept in memory and once loading them anew for every command (I4). */
describe.each([
  ['warm', true],
  ['loaded before every command', false],
])('the spine, sessions %s', (mode, residency) => {
  let server: TestServer;
  let opened: ReturnType<typeof portsOn>;
  let ports: Ports;
  const services: Service[] = [];

  beforeAll(async () => {
    server = await startServer();
    const config = configSchema.parse({ nats: { partitions: 8 } });
    await provisionFor(server, { partitions: 8 });
    opened = portsOn(server, config);
    ports = await opened.as('tester');
    const hostPorts = await opened.as('session');
    const log = pino({ level: 'silent' });
    const safetyToggles = { ...allOn, residency };
    const host = { config, ports: hostPorts, log, member: 'host-1', env: {}, safetyToggles, recoveryEveryMs: 100 };
    services.push(await startSession(host));
    services.push(await startCheckpoint({ ports: await opened.as('checkpoint'), log, member: 'checkpoint-1' }));
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop(2_000)));
    await opened.close();
    await server.stop();
  });

  const send = async (key: string, data: SessionCommand, id: string = randomUUID()): Promise<string> => {
    const envelope: CommandEnvelope = {
      id,
      key: key as SessionKey,
      at: Date.now(),
      correlationId: id,
      causationId: id,
      actor: 'test',
      data,
    };
    await ports.commands.publish(envelope);
    return id;
  };
  const post = (key: string, text: string, messageId: string = randomUUID(), id: string = randomUUID()): Promise<string> =>
    send(key, { type: 'post_message', sessionId: `s-${key}`, message: { messageId, text, sender: { id: 'ann' } } }, id);
  const commitsOf = async (key: string): Promise<RecordedCommit[]> => {
    const commits: RecordedCommit[] = [];
    for await (const commit of ports.events.read(key as SessionKey)) commits.push(commit);
    return commits;
  };
  const typesOf = async (key: string): Promise<string[]> =>
    (await commitsOf(key)).flatMap(({ events }) => events.map(({ type }) => type));
  const repliesOf = async (key: string): Promise<string[]> =>
    (await commitsOf(key)).flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'assistant_message' ? [event.text] : [])),
    );
  const until = (assertion: () => Promise<void>): Promise<void> => vi.waitFor(assertion, { interval: 20 });

  test('a message becomes one commit with its answer, and the index shows it', async () => {
    const key = 'agent:main:a';
    await post(key, 'hello');
    await until(async () => expect(await repliesOf(key)).toEqual(['You said: hello']));
    expect(await typesOf(key)).toEqual([
      'session_opened',
      'user_message',
      'turn_started',
      'model_step',
      'assistant_message',
      'turn_completed',
    ]);
    await until(async () =>
      expect(await ports.index.get(key as SessionKey)).toMatchObject({ status: 'idle', messageCount: 2, completedTurns: 1 }),
    );
  });

  test('a turn of several steps is recorded step by step; messages meanwhile wait and each gets its own answer (A5/70)', async () => {
    const key = 'agent:main:telegram:group:-100@x.y';
    await post(key, '[[think 60]] [[steps 3]] first');
    await post(key, 'second');
    await post(key, '[[think 20]] third');
    await until(async () => expect(await repliesOf(key)).toEqual(['You said: first', 'You said: second', 'You said: third']));
    const steps = (await commitsOf(key)).flatMap(({ events }) => events.filter(({ type }) => type === 'model_step'));
    expect(steps).toHaveLength(5);
  });

  test('the same command, and the same message under another command, take effect once (I2)', async () => {
    const key = 'agent:main:twice';
    const id = await post(key, 'once', 'm-1', 'command-1');
    await post(key, 'once', 'm-1', id);
    await post(key, 'once', 'm-1', 'command-2');
    await post(key, 'last', 'm-2');
    await until(async () => expect(await repliesOf(key)).toEqual(['You said: once', 'You said: last']));
  });

  test('stop ends the turn and the queue; a message after it runs; a late step changes nothing (A11/125, I5)', async () => {
    const key = 'agent:main:stopped';
    await post(key, '[[think 60000]] never');
    await post(key, 'waits');
    await until(async () => expect(await typesOf(key)).toContain('turn_queued'));
    await send(key, { type: 'stop', reason: 'enough' });
    await post(key, 'after');
    await until(async () => expect(await repliesOf(key)).toEqual(['You said: after']));
    expect(await typesOf(key)).toEqual(expect.arrayContaining(['queue_cleared', 'turn_aborted']));
  });

  test('reset begins a new generation in one commit (C10)', async () => {
    const key = 'agent:main:reset';
    await post(key, 'old');
    await send(key, { type: 'reset', sessionId: 'new-session', cause: { trigger: 'api', rule: 'asked' } });
    await post(key, 'new');
    await until(async () => expect(await repliesOf(key)).toHaveLength(2));
    const last = (await commitsOf(key)).at(-1);
    expect(last).toMatchObject({ sessionId: 'new-session', rev: 3, epoch: 1 });
  });

  test('a scheduled message is a delayed command', async () => {
    const key = 'agent:main:later';
    const id = randomUUID();
    const message = { messageId: id, text: 'later', sender: { id: 'ann' } };
    const at = Date.now() + 400;
    await ports.commands.schedule(id, at, {
      ...{ id, key: key as SessionKey, at, correlationId: id, causationId: id, actor: 'test' },
      data: { type: 'post_message', sessionId: 's', message },
    });
    await until(async () => expect(await repliesOf(key)).toEqual(['You said: later']));
    expect((await commitsOf(key))[0]?.recordedAt).toBeGreaterThanOrEqual(at);
  });

  test('a session whose history cannot be folded is quarantined alone; its commands are dead letters', async () => {
    const key = 'agent:main:broken';
    await post(key, 'fine');
    await until(async () => expect(await repliesOf(key)).toHaveLength(1));
    const connection = await openConnection({ servers: server.url, name: 'vandal', requestTimeoutMs: 2_000 });
    await jetstream(connection).publish(
      subjectsUnder('natter').event('user_message', key as SessionKey),
      new Uint8Array([0xc1, 0x00]),
    );
    await connection.close();
    await post(key, 'lost?');
    await post('agent:main:healthy', 'hello');
    await until(async () => expect(await repliesOf('agent:main:healthy')).toEqual(['You said: hello']));
    await until(async () => expect((await ports.deadLetters.list(10)).map(({ reason }) => reason).join()).toContain(key));
  });

  test('a plain NATS subscriber sees commits as plain MessagePack with CloudEvents headers', async () => {
    const connection = await openConnection({ servers: server.url, name: 'tool', requestTimeoutMs: 2_000 });
    const subscription = connection.subscribe('natter.event.assistant_message.agent.main.tool', { max: 1 });
    await connection.flush();
    await post('agent:main:tool', 'hi');
    for await (const message of subscription) {
      expect(new Unpackr({ useRecords: false }).unpack(message.data)).toMatchObject({
        v: 2,
        key: 'agent:main:tool',
        rev: 1,
        prev: null,
      });
      expect(message.headers?.get('ce-type')).toBe('natter.assistant_message');
    }
    await connection.close();
  });

  test(`${mode}: folding each log gives the index row and one terminal event per turn (I1, I3, I4)`, async () => {
    const keys = ['a', 'telegram:group:-100@x.y', 'twice', 'stopped', 'reset', 'later', 'tool'].map(
      (name) => `agent:main:${name}`,
    );
    for (const key of keys) {
      const commits = await commitsOf(key);
      const state = toPlain(commits.reduce(fold, initialState));
      expect(state.status).toBe('idle');
      const row = commits.reduce<ReturnType<typeof summarize> | null>(summarize, null);
      await until(async () => expect(await ports.index.get(key as SessionKey)).toEqual(row));
      const events = commits.flatMap((commit) => commit.events);
      const asked = events.flatMap((event) => (event.type === 'user_message' && event.turnId ? [event.turnId] : []));
      const ended = events.flatMap((event) => {
        if (event.type === 'queue_cleared') return event.turnIds;
        return event.type === 'turn_completed' || event.type === 'turn_failed' || event.type === 'turn_aborted'
          ? [event.turn.id]
          : [];
      });
      expect([...ended].sort()).toEqual([...asked].sort());
    }
  });
});
