import { connect } from '@nats-io/transport-node';
import { expect, it, vi } from 'vitest';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { configSchema } from '../../../shared/config/schema.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { startMiniHost } from '../../support/mini-host.ts';
import { startServer } from '../../support/nats.ts';
import { afterwards, callerOf, openStream, pathOf, ready, startDoor } from './setup.ts';

const key = 'agent:main:main';
const config = configSchema.parse({ nats: { partitions: 4, requestTimeoutMs: 500 } });

const prepare = async (url: string): Promise<void> => {
  const connection = await connect({ servers: url });
  await provision(connection, topologyOf(subjectsUnder(config.prefix), { replicas: 1, partitions: config.nats.partitions }));
  await connection.close();
};

it('on a real broker that is killed and started again: 503 meanwhile, then all goes on, and an open stream has no gap or repeat', async () => {
  const server = await startServer();
  afterwards(() => server.stop());
  await prepare(server.url);
  const portsFor = async (name: string) => {
    const ports = await openNats(config, { name, clock: systemClock, servers: server.url });
    afterwards(() => ports.close());
    return ports;
  };
  const host = await startMiniHost(await portsFor('host'));
  afterwards(() => host.close());
  const gateway = await startDoor(await portsFor('gateway'));
  const call = callerOf(gateway.url);
  await ready(call);
  const say = (text: string, id: string) =>
    call('POST', pathOf(key, '/messages?wait=20'), { body: { text }, headers: { 'idempotency-key': id } });

  const stream = await openStream(gateway.url, '/v1/events?after=0');
  expect((await say('one', '1')).body).toMatchObject({ status: 'ok', reply: 'you said: one' });
  expect((await say('one', '1')).body).toMatchObject({ status: 'ok', reply: 'you said: one' });

  await server.kill9();
  await vi.waitFor(async () => expect((await call('GET', '/readyz')).status).toBe(503), 5_000);
  const refused = await say('two', '2');
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { code: 'unavailable' } });
  await server.restart();
  await ready(call);
  expect((await say('two', '2')).body).toMatchObject({ status: 'ok', reply: 'you said: two' });

  const { events } = (await call('GET', '/v1/events?limit=1000')).body;
  expect(events.filter(({ type }: { type: string }) => type === 'assistant_message')).toHaveLength(2);
  await vi.waitFor(() => expect(stream.messages).toHaveLength(events.length), 10_000);
  expect(stream.messages.map(({ id }) => id)).toEqual(events.map(({ id }: { id: string }) => id));

  await server.restart({ empty: true });
  await vi.waitFor(async () => {
    const { status, body } = await call('POST', pathOf(key, '/messages'), { body: { text: 'three' } });
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
  }, 10_000);
  expect((await call('GET', '/livez')).status).toBe(200);
});
