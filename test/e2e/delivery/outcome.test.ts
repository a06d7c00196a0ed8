import { expect, test, vi } from 'vitest';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CustodyRecord } from '../../../shared/ports/custody-log.ts';
import { startMiniHost } from '../../support/mini-host.ts';
import { startServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';
import { afterwards, callerOf, openGateway, pathOf, ready, startWorld, type World } from '../gateway/setup.ts';

/** What became of the messages that a session has sent, as whoever reads the session is told. */

const key = 'agent:main:chat:dm:ann' as SessionKey;
const target = { channel: 'chat', to: 'ann' };

/** A gateway and a delivery service, each with the rights of its own user on a real broker. */
const onBroker = async () => {
  const server = await startServer();
  afterwards(() => server.stop());
  const config = configSchema.parse({ nats: { partitions: 4 } });
  await provisionFor(server, { prefix: config.prefix, partitions: 4 });
  const opened = portsOn(server, config);
  afterwards(() => opened.close());
  const host = await startMiniHost(await opened.as('tester'));
  afterwards(() => host.close());
  const gateway = await openGateway(await opened.as('gateway'));
  const call = callerOf(gateway.url);
  await ready(call);
  return { ports: await opened.as('delivery'), gateway, call };
};

const start = (...texts: string[]) => startIn(startWorld, ...texts);

/** A session that has sent several answers; what delivery does is written by the test. */
const startIn = async (world: () => Promise<Pick<World, 'ports' | 'call' | 'gateway'>>, ...texts: string[]) => {
  const { ports, call, gateway } = await world();
  for (const text of texts) {
    const body = { text, deliverTo: target };
    expect((await call('POST', `${pathOf(key, '/messages')}?wait=10`, { body })).status).toBe(200);
  }
  const { events } = (await call('GET', `${pathOf(key, '/events')}?type=assistant_message`)).body;
  const ids: string[] = events.map(({ id }: { id: string }) => id);
  let seq = 0;
  const record = async (outboundId: string, change: Partial<CustodyRecord>): Promise<void> => {
    const of = { v: change.parts ? 2 : 1, outboundId, outboundSeq: Number.parseInt(outboundId, 10), key, target } as const;
    const written = { ...of, state: 'prepared', attempt: 1, at: ports.clock.now(), ...change } as const;
    seq = (await ports.custody.append(written, seq)) ?? 0;
  };
  const path = (event: string) => pathOf(key, `/deliveries?event=${event}`);
  const of = async (event: string) => (await call('GET', path(event))).body.deliveries;
  return { ports, call, gateway, ids, record, path, of };
};

test('before delivery has come to it, between two attempts, and delivered with the id that the platform gave it', async () => {
  const { ids, record, of } = await start('one');
  const [id = ''] = ids;
  const sent = { outboundId: id, kind: 'assistant_message', target };
  expect(await of(id)).toEqual([{ ...sent, state: 'prepared', attempt: 0, messageIds: [] }]);
  await record(id, {});
  await record(id, { attempt: 2, detail: 'HTTP 503 from a-host', failure: 'transient', notBefore: 4e12 });
  expect(await of(id)).toEqual(
    [
      ...[
        { ...sent, state: 'prepared', attempt: 2, at: expect.any(Number), messageIds: [], failure: 'transient', notBefore: 4e12 },
      ],
    ].map((one) => ({ ...one, detail: 'HTTP 503 from a-host' })),
  );
  await record(id, { state: 'delivered', attempt: 2, messageId: 'm7' });
  expect(await of(id)).toEqual([{ ...sent, state: 'delivered', attempt: 2, at: expect.any(Number), messageIds: ['m7'] }]);
  // By its commit too; and nothing was sent by another event.
  expect(await of(id.replace(/\..*/, ''))).toHaveLength(1);
  expect(await of(id.replace(/\..*/, '.99'))).toEqual([]);
});

test('one behind which its conversation has gone on, from the log, whatever else is in it', async () => {
  const { ports, ids, record, of } = await start('one', 'two', 'three');
  const [one = '', two = '', three = ''] = ids;
  const cuts = [{ end: 3, next: 4 }];
  await record(one, { state: 'delivered', messageId: 'm1' });
  await record(two, { state: 'sending' });
  await record(two, { state: 'partial', parts: { cuts, digest: 'd', done: ['m2', null], refused: [1] }, failure: 'invalid' });
  await record(three, { state: 'sending' });
  expect(await of(one)).toMatchObject([{ state: 'delivered', attempt: 1, messageIds: ['m1'] }]);
  expect(await of(two)).toMatchObject([{ state: 'partial', messageIds: ['m2'], parts: { sent: 1, of: 2 }, failure: 'invalid' }]);
  expect(await of(three)).toMatchObject([{ state: 'sending', messageIds: [] }]);
  // One read of the conversation, from the time of the commit on, for each that is behind its end; none for the last.
  const read = vi.spyOn(ports.custody, 'read');
  await of(one);
  await of(three);
  expect(read).toHaveBeenCalledOnce();
  expect(read.mock.calls[0]?.[1]).toBeGreaterThan(ports.clock.now() - 3_600_000);
});

test('on a broker, with the rights of the gateway, wherever it is in the log', async () => {
  const { ids, record, of } = await startIn(onBroker, 'one', 'two', 'three');
  const [one = '', two = '', three = ''] = ids;
  for (const [at, id] of [one, two].entries()) {
    await record(id, { state: 'sending' });
    await record(id, { state: 'delivered', messageId: `m${at}` });
  }
  expect(await of(one)).toMatchObject([{ outboundId: one, state: 'delivered', messageIds: ['m0'] }]);
  expect(await of(two)).toMatchObject([{ outboundId: two, state: 'delivered', messageIds: ['m1'] }]);
  expect(await of(three)).toMatchObject([{ outboundId: three, state: 'prepared', attempt: 0 }]);
});

test('one whose record is gone may have arrived; while a replica lags, it is not called gone', async () => {
  const { ports, call, ids, record, path, of } = await start('one', 'two');
  const [one = '', two = ''] = ids;
  await record(two, { state: 'delivered' });
  const detail = 'the delivery log has no record of it any more';
  expect(await of(one)).toMatchObject([{ state: 'unknown', attempt: 0, detail }]);
  vi.spyOn(ports.custody, 'read').mockImplementation(async function* () {});
  expect(await call('GET', path(one))).toMatchObject({ status: 503, body: { code: 'unavailable' } });
});

test("an event of another session, or of none, is not there; what a receiver said is the owner's", async () => {
  const { call, gateway, ids, record, path } = await start('one');
  const [id = ''] = ids;
  await record(id, { state: 'failed', detail: 'no account a-name', failure: 'gone' });
  for (const event of ['999999.0', '0.0']) expect(await call('GET', path(event))).toMatchObject({ status: 404 });
  expect((await call('GET', pathOf(key, '/deliveries'))).status).toBe(400);
  expect((await call('GET', path('x'))).body.detail).toMatch(/^event: use SEQ or SEQ.INDEX/);
  const { token } = (await call('POST', '/v1/tokens', { body: { role: 'read-only' } })).body;
  const { body } = await callerOf(gateway.url, token)('GET', path(id));
  expect(body.deliveries).toMatchObject([{ state: 'failed', failure: 'gone' }]);
  expect(body.deliveries[0]).not.toHaveProperty('detail');
});
