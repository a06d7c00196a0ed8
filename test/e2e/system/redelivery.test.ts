import { randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import pino from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startSession } from '../../../services/session/main.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { portsOn } from '../../support/system.ts';

const partitions = 8;
const topology = topologyOf(subjectsUnder('natter'), { replicas: 1, partitions, memoryConsumers: true });
const keys = [...Array(50).keys()].map((number) => `agent:main:key-${number}` as SessionKey);
const stream = 'NATTER_COMMANDS';
let server: TestServer;
let opened: ReturnType<typeof portsOn>;
let ports: Ports;
let host: Service;

const prepare = async (): Promise<void> => {
  const connection = await openConnection({ ...server.as('provisioner'), name: 'test', requestTimeoutMs: 5_000 });
  await provision(connection, topology);
  await connection.close();
};
beforeAll(async () => {
  server = await startServer();
  await prepare();
  const config = configSchema.parse({ nats: { partitions } });
  opened = portsOn(server, config);
  ports = await opened.as('tester');
  const log = pino({ level: 'silent' });
  host = await startSession({ config, ports: await opened.as('session'), log, member: 'host-1', env: {}, recoveryEveryMs: 100 });
});
afterAll(async () => {
  await host.stop(2_000);
  await opened.close();
  await server.stop();
});

const send = async (key: SessionKey, data: SessionCommand): Promise<void> => {
  const id = randomUUID();
  const envelope = { ...{ id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'test' }, data };
  await ports.commands.publish(envelope satisfies CommandEnvelope);
};
const post = (key: SessionKey, text: string): Promise<void> =>
  send(key, { type: 'post_message', sessionId: `s-${key}`, message: { messageId: randomUUID(), text, sender: { id: 'ann' } } });
const settled = (): Promise<void> =>
  vi.waitFor(async () => expect(await ports.commands.lag()).toBe(0), { timeout: 30_000, interval: 50 });
const metric = (name: string): number => host.metrics()[name] ?? 0;

const restarted = async (): Promise<void> => {
  await server.kill9();
  await server.restart();
  await prepare();
};
const stored = async (): Promise<number> => {
  const connection = await openConnection({ servers: server.url, name: 'test', requestTimeoutMs: 5_000 });
  const { streams } = await jetstreamManager(connection, { checkAPI: false });
  const { state } = await streams.info(stream);
  await connection.close();
  return state.messages;
};

test('ADR 9: what was refused and might be accepted by now does not come again', { timeout: 90_000 }, async () => {
  const key = 'agent:main:busy' as SessionKey;
  const typesOf = async (): Promise<string[]> => {
    const types: string[] = [];
    for await (const { events } of ports.events.read(key)) types.push(...events.map(({ type }) => type));
    return types;
  };
  await post(key, '[[think 400]]');
  await send(key, { type: 'delete_session', mode: 'session', reason: 'test' });
  await vi.waitFor(async () => expect(await typesOf()).toContain('turn_completed'), { interval: 20 });
  expect(metric('commands_refused_total')).toBe(1);
  await restarted();
  await settled();
  expect(await typesOf()).not.toContain('session_deleted');
});

test('ADR 9: done commands that a restarted broker gives out again change nothing, and leave', { timeout: 120_000 }, async () => {
  const postToAll = (text: string): Promise<unknown> => Promise.all(keys.map((key) => post(key, text)));
  /** How many came again. */
  const round = async (): Promise<number> => {
    for (let number = 0; number < 8; number++) await postToAll(`hello ${number}`);
    await settled();
    const [info, commits] = [await ports.events.info(), metric('commits_total')];
    const [repeats, refused] = [metric('commands_duplicate_total'), metric('commands_refused_total')];
    const began = performance.now();
    await restarted();
    await settled();
    const again = metric('commands_duplicate_total') - repeats;
    console.info(`${again} done commands came again and were through after ${(performance.now() - began).toFixed(0)} ms`);
    expect([await ports.events.info(), metric('commits_total')]).toEqual([info, commits]);
    expect([metric('sessions_quarantined'), metric('commands_refused_total')]).toEqual([0, refused]);
    expect(await ports.deadLetters.list(1)).toEqual([]);
    await postToAll('after');
    await settled();
    expect(metric('commits_total')).toBe(commits + keys.length);
    return again;
  };
  // The host may well remove what is done before it comes again: then once more.
  while ((await round()) === 0);
  await vi.waitFor(async () => expect(await stored()).toBe(0), { interval: 100 });
});
