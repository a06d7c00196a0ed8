import { createHash } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Gateway, startGateway } from '../../../services/gateway/main.ts';
import { startRouter } from '../../../services/router/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { type InboundEnvelope, inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { runConnector, violationsOf } from '../../chaos/connectors/run.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { portsOn } from '../../support/system.ts';

/** The broker forgets an id after a tenth of a second, so that a repeat after it takes no two minutes. */
const partitions = 2;
const usual = topologyOf(subjectsUnder('natter'), { replicas: 1, partitions, memoryConsumers: true });
const forgetful = { ...usual, streams: usual.streams.map((stream) => ({ ...stream, duplicateWindowMs: 100 })) };

let server: TestServer;
let opened: ReturnType<typeof portsOn>;
let ports: Ports;
let gateway: Gateway;
const token = 'token-of-the-connector';
const services: Service[] = [];

beforeAll(async () => {
  server = await startServer();
  const connection = await openConnection({ ...server.as('provisioner'), name: 'test', requestTimeoutMs: 5_000 });
  await provision(connection, forgetful);
  await connection.close();
  const sha256 = createHash('sha256').update(token).digest('hex');
  const config = configSchema.parse({
    ...{ nats: { partitions }, session: { dmScope: 'main' } },
    gateway: { port: 0, tokens: { telegram: { sha256, role: 'channel', namespace: 'telegram' } } },
  });
  const log = pino({ level: 'silent' });
  opened = portsOn(server, config);
  ports = await opened.as('tester');
  const router = { config: fixed(config), ports: await opened.as('router'), log, member: 'router-1' };
  services.push(await startRouter(router));
  services.push(await startSession({ config, ports: await opened.as('session'), log, member: 'host-1', env: {} }));
  // It refuses messages where a stream is not what it should be.
  const gatewayPorts = { ...(await opened.as('gateway')), problems: () => [] };
  gateway = await startGateway({ config: fixed(config), ports: gatewayPorts, log, token: 'a', version: '0' });
  services.push(gateway);
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop(2_000)));
  await opened.close();
  await server.stop();
});

const envelope = (id: string, change: object = {}): InboundEnvelope =>
  inboundEnvelope.parse({
    ...{ id, channel: 'telegram', conversation: { id: '-100', kind: 'group' }, sender: { id: '42' }, text: `said ${id}` },
    ...change,
  });
const metric = (name: string): number => services.reduce((sum, service) => sum + (service.metrics()[name] ?? 0), 0);

/** Publishes an envelope until the broker takes it for a new one. */
const afterTheWindow = (again: InboundEnvelope): Promise<void> =>
  vi.waitFor(async () => expect(await ports.inbound.publish(again)).toMatchObject({ duplicate: false }), {
    timeout: 10_000,
    interval: 50,
  });
/** Waits until so many commands are decided. */
const decided = (count: number): Promise<void> =>
  vi.waitFor(() => expect(metric('commits_total') + metric('commands_duplicate_total')).toBeGreaterThanOrEqual(count), {
    timeout: 20_000,
    interval: 20,
  });
const saidIn = async (key: string): Promise<string[]> => {
  const texts: string[] = [];
  for await (const { events } of ports.events.read(key as SessionKey))
    for (const event of events) if (event.type === 'user_message') texts.push(event.message.text);
  return texts;
};

test('F12: what comes again after the memory of the broker and after a hundred others takes effect once (D9)', async () => {
  const group = Array.from({ length: 100 }, (_, number) => envelope(`g${number}`));
  const asked = envelope('q', { conversation: { id: '42', kind: 'direct' } });
  const all = [asked, ...group];
  for (const each of all) await ports.inbound.publish(each);
  await decided(all.length);
  await afterTheWindow(asked);
  for (const each of group) expect(await ports.inbound.publish(each)).toMatchObject({ duplicate: false });
  await vi.waitFor(() => expect(metric('commands_duplicate_total')).toBeGreaterThanOrEqual(all.length));
  expect(await saidIn('agent:main:telegram:group:-100')).toEqual(group.map(({ text }) => text));
  expect(await saidIn('agent:main:main')).toEqual([asked.text]);
  expect(metric('turns_started_total')).toBe(1);
});

test('the same id in two chats of a channel is two messages, unless it is unique in the account (D9)', async () => {
  const inChat = (id: string, chat: string, change = {}) =>
    envelope(id, { conversation: { id: chat, kind: 'direct' }, ...change });
  const account = { idScope: 'account', text: 'of the account' };
  const chats = [inChat('7', '5'), inChat('7', '6'), inChat('8', '5', account), inChat('8', '6', account)];
  for (const each of chats) await ports.inbound.publish(each);
  await vi.waitFor(async () => {
    const said = await saidIn('agent:main:main');
    expect(said.filter((text) => text !== 'said q').sort()).toEqual(['of the account', 'said 7', 'said 7']);
  });
});

test('over a connector that is killed again and again, and repeats, all arrives once and in order (D9)', async () => {
  const before = metric('commands_duplicate_total');
  const { violations, handedAgain } = await runConnector({
    ...{ posts: 48, chats: 4, everyMs: 10, repeatsMs: [100, 500], killEveryMs: 200, mostKills: 3 },
    ...{ gateway: { url: gateway.url, token }, ports },
  });
  expect(violations).toEqual([]);
  expect(handedAgain).toBeGreaterThan(0);
  // The broker had forgotten their ids.
  expect(metric('commands_duplicate_total') - before).toBeGreaterThan(48);
}, 60_000);

test('what is lost, there twice, out of order or from nobody is noticed', () => {
  const posts = ['a', 'b', 'c'].map((text, index) => ({ id: text, chat: '1', number: index + 1, text }));
  const wrongWith = (...texts: string[]) => violationsOf(posts, new Map([['1', texts]]));
  expect(wrongWith('a', 'b', 'c')).toEqual([]);
  expect(wrongWith('a', 'c')).toEqual(['b is lost']);
  expect(wrongWith('a', 'b', 'b', 'c')).toEqual(['b is there 2 times']);
  expect(wrongWith('b', 'a', 'c')).toEqual(['a comes after b']);
  expect(wrongWith('a', 'b', 'c', 'd')).toContain('1 has what nobody wrote');
});
