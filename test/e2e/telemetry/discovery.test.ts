import { connect, nkeyAuthenticator } from 'nats';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openConnections } from '../../../shared/adapters/nats/client/connection.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { AckOutcome } from '../../../shared/ports/work-queue.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';

/** The broker's own tools find what runs: NATS micro-services, asked with the official client as the user `operator`. */

const config = configSchema.parse({ nats: { partitions: 1 } });
const services = ['router', 'delivery'] as const;
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ hostile: true });
  await provisionFor(server, { partitions: 1 });
});
afterAll(() => server.stop());

const startServices = async () => {
  const opened = services.map((service) => {
    const discovered = { service, id: `${service}-1`, version: '1.2.3' };
    return openNats(config, { name: service, discovered, clock: systemClock, ...server.as(service) });
  });
  const ports = await Promise.all(opened);
  onTestFinished(async () => {
    await Promise.all(ports.map((each) => each.close()));
  });
  const [router, delivery] = ports;
  if (router === undefined || delivery === undefined) throw new Error('two were opened');
  return { router, delivery };
};

const asked = async () => {
  const { servers, nkeySeed, inboxPrefix } = server.as('operator');
  const seed = typeof nkeySeed === 'function' ? nkeySeed() : (nkeySeed ?? '');
  const authenticator = nkeyAuthenticator(new TextEncoder().encode(seed));
  const connection = await connect({ servers, authenticator, ...(inboxPrefix && { inboxPrefix }) });
  onTestFinished(() => connection.close());
  const client = connection.services.client({ strategy: 'timer', maxWait: 1_000 } as never);
  const all = async <T extends { id: string }>(answers: Promise<AsyncIterable<T>>): Promise<T[]> => {
    const found: T[] = [];
    for await (const answer of await answers) found.push(answer);
    return found.sort((a, b) => (a.id < b.id ? 1 : -1));
  };
  return { connection, client, all };
};

test('each service answers who it is, alone, by its name and by its id', async () => {
  await startServices();
  const { client, all } = await asked();
  const identity = (service: string) => {
    return { name: 'natter', id: `${service}-1`, version: '1.2.3', metadata: { service, prefix: 'natter' } };
  };
  const pings = services.map((service) => ({ type: 'io.nats.micro.v1.ping_response', ...identity(service) }));
  await vi.waitFor(async () => expect(await all(client.ping())).toEqual(pings));
  await vi.waitFor(async () => expect(await all(client.ping('natter'))).toEqual(pings));
  await vi.waitFor(async () => expect(await all(client.ping('natter', 'router-1'))).toEqual([pings[0]]));
  const infos = services.map((service) => ({
    ...identity(service),
    ...{ type: 'io.nats.micro.v1.info_response', description: `Natter: the ${service} service`, endpoints: [] },
  }));
  await vi.waitFor(async () => expect(await all(client.info('natter'))).toEqual(infos));
});

test('its endpoints are the queues that it takes from, with what came of the messages', async () => {
  const { router } = await startServices();
  const outcomes: AckOutcome[] = [{ kind: 'done' }, { kind: 'retry' }, { kind: 'dead', reason: 'no such room' }];
  const handle = async () => outcomes.shift() ?? Promise.reject(new Error('the disk is full'));
  const consumption = await router.inbound.consume({ member: 'router-1', handle });
  onTestFinished(() => consumption.close(1_000));
  const conversation = { id: 'c', kind: 'direct' };
  for (const id of ['one', 'two', 'three'])
    await router.inbound.publish(
      inboundEnvelope.parse({ id, channel: 'irc', conversation, sender: { id: 'a' }, text: 'hi', at: 1 }),
    );
  const { client, all } = await asked();
  const endpoint = { name: 'inbound', subject: 'natter.inbound.*.*', queue_group: 'inbound' };
  const [info] = await all(client.info('natter', 'router-1'));
  expect(info?.endpoints).toEqual([{ ...endpoint, metadata: {} }]);
  await vi.waitFor(async () => {
    const [stats] = await all(client.stats('natter', 'router-1'));
    expect(stats?.started).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const [{ num_requests = 0, num_errors = 0, processing_time = 0, average_processing_time = 0, ...rest } = {}] =
      stats?.endpoints ?? [];
    expect(rest).toEqual({ ...endpoint, last_error: 'the disk is full' });
    expect([num_requests - num_errors, num_requests >= 4]).toEqual([1, true]);
    expect(Math.abs(processing_time / num_requests - average_processing_time)).toBeLessThan(1);
    expect(processing_time).toBeGreaterThan(0);
  }, 30_000);
});

test('nobody is answered but at an inbox: a forged address makes no service write elsewhere', async () => {
  const { delivery } = await startServices();
  const { connection, client, all } = await asked();
  const stored: string[] = [];
  const tester = await connect({ servers: server.url });
  onTestFinished(() => tester.close());
  tester.subscribe('natter.dead.*', { callback: (_, { subject }) => stored.push(subject) });
  await tester.flush();
  await vi.waitFor(async () => expect(await all(client.ping())).toHaveLength(2));
  connection.publish('$SRV.PING', undefined, { reply: 'natter.dead.delivery~x' });
  await all(client.ping());
  expect([stored, delivery.problems()]).toEqual([[], []]);
});

test('users that were made before may not be asked, and that is no trouble of theirs', async () => {
  const older = await openConnections({ ...server.as('reader'), name: 'older', requestTimeoutMs: 5_000 });
  onTestFinished(() => older.close());
  const refusals: string[] = [];
  const callback = (error: Error | null): void => void refusals.push(error?.message ?? '');
  older.consumers.subscribe('$SRV.PING', { callback });
  await vi.waitFor(() => expect(refusals).toEqual([expect.stringContaining('$SRV.PING')]), 10_000);
  expect(older.problems()).toEqual([]);
  older.consumers.subscribe('natter.command.*', { callback });
  await vi.waitFor(() => expect(older.problems().map(({ code }) => code)).toEqual(['permission_denied']), 10_000);
});
