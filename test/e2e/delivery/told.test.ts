import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startDelivery } from '../../../services/delivery/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { OfflineModel } from '../../../shared/adapters/model/offline.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { ModelRequest } from '../../../shared/domain/prompt/model-request.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Model } from '../../../shared/ports/model.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { listener } from '../../support/listener.ts';
import { afterwards, callerOf, config, openBroker, openGateway, pathOf, ready } from '../gateway/setup.ts';
import { openRig, type Reply } from './rig.ts';

/** What is told of an answer that nobody knows to have arrived, and what a person does about it (D12). */

const key = 'agent:main:main';
const deliverTo = { channel: 'chat', to: 'ann' };

/** A webhook that stores what it gets, and cuts the connection instead of an answer where `cuts` says so. */
const startFarSide = async (cuts: (text: string, nth: number) => boolean) => {
  const stored: { id: string; text: string }[] = [];
  const server = createServer(
    listener(async (request, response) => {
      const { id, text } = JSON.parse(Buffer.concat(await request.toArray()).toString());
      stored.push({ id, text });
      if (cuts(text, stored.filter((each) => each.text === text).length)) request.socket.destroy();
      else response.writeHead(204).end();
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(() => new Promise((resolve) => server.close(resolve)));
  afterwards(() => server.closeAllConnections());
  return { stored, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
};

/** A session host, delivery and a gateway on one broker, with such a webhook. */
const start = async (cuts: Parameters<typeof startFarSide>[0]) => {
  const { stored, url } = await startFarSide(cuts);
  const outlets = { webhooks: { chat: { url, secret: 'a secret', idempotent: false } } };
  const given = configSchema.parse({ ...config, outlets });
  const memory = openBroker();
  const log = pino({ level: 'silent' });
  const heard: ModelRequest[] = [];
  const offline = new OfflineModel(systemClock);
  const model: Model = {
    ...{ name: offline.name, windowTokens: offline.windowTokens },
    step: (request, onText, signal) => {
      heard.push(request);
      return offline.step(request, onText, signal);
    },
  };
  const ports = memory.portsFor('services');
  const services = [
    await startSession({ config: given, ports, log, member: 'session', env: {}, model }),
    await startDelivery({ config: fixed(given), ports, log, member: 'delivery' }),
  ];
  afterwards(() => Promise.all(services.map((service) => service.stop(1_000))));
  const gateway = await openGateway(memory.portsFor('gateway'), services, given);
  const call = callerOf(gateway.url);
  await ready(call);
  const say = async (text: string): Promise<void> => {
    expect((await call('POST', `${pathOf(key, '/messages')}?wait=10`, { body: { text, deliverTo } })).status).toBe(200);
  };
  const listed = async () => (await call('GET', '/v1/deliveries')).body.deliveries;
  const open = (count: number) =>
    vi.waitFor(async () => {
      const deliveries = await listed();
      expect(deliveries).toHaveLength(count);
      return deliveries;
    });
  const events = async (...types: string[]) =>
    (await call('GET', `${pathOf(key, '/events')}?${types.map((type) => `type=${type}`).join('&')}`)).body.events;
  return { ports, stored, heard, call, say, open, events };
};

test('an answer that was stored while the connection was cut: told to its session and listed; then repeated, then left', async () => {
  const { ports, stored, heard, call, say, open, events } = await start((text, nth) => text.includes('first') && nth === 1);
  await say('the first');
  const [unknown] = await open(1);
  const [sent] = stored;
  expect(unknown).toMatchObject({
    ...{ state: 'unknown', outboundId: sent?.id, sessionKey: key, target: deliverTo, kind: 'assistant_message' },
    detail: 'fetch failed (UND_ERR_SOCKET)',
  });
  const told = await vi.waitFor(async () => {
    const [event] = await events('delivery_reported');
    expect(event).toMatchObject({ outboundId: sent?.id, outcome: 'unknown', deliverTo, correlationId: expect.any(String) });
    return event;
  });
  expect(told).not.toHaveProperty('past');
  // It is no use of the session, and starts nothing.
  const { body: session } = await call('GET', pathOf(key));
  expect(session).toMatchObject({ status: 'idle', messageCount: 2 });
  expect(session.interactedAt).toBeLessThan(session.updatedAt + 1);
  expect(await events('turn_started')).toHaveLength(1);
  expect(heard).toHaveLength(1);

  await say('the second');
  expect(heard.at(-1)?.messages.map(({ text }) => text)).toContain(
    '[It is not known whether your last answer has reached the person.]',
  );
  await vi.waitFor(() => expect(stored).toHaveLength(2));

  expect((await call('POST', `/v1/deliveries/${unknown.seq}/repeat`)).body).toMatchObject({
    warning: expect.stringContaining('twice'),
  });
  await vi.waitFor(() => expect(stored).toHaveLength(3));
  expect(stored[2]).toEqual({ id: expect.any(String), text: sent?.text });
  expect(new Set(stored.map(({ id }) => id)).size).toBe(3);
  await open(0);

  await say('again the first');
  const [left] = await open(1);
  expect((await call('POST', `/v1/deliveries/${left.seq}/leave`)).status).toBe(200);
  await open(0);
  expect(await events('delivery_repeated')).toHaveLength(1);
  expect(stored).toHaveLength(4);
  await vi.waitFor(async () => expect(await events('delivery_reported')).toHaveLength(2));
  // What arrived leaves no trace besides its custody.
  expect(await ports.deadLetters.count()).toBe(0);
});

test('a conversation that has to wait, and an account that is parked, are reported as long as they wait, by who sends', async () => {
  const later = { 'retry-after': '3600' };
  const replies: Readonly<Record<string, Reply>> = { ann: { status: 429, headers: later }, cy: { status: 503, headers: later } };
  const rig = await openRig(({ to }) => replies[to] ?? { status: 401 });
  afterwards(() => rig.close());
  const service = await rig.start('one');
  await rig.say('later', 'ann');
  await rig.say('soon', 'cy');
  await rig.say('never', 'bob', { channel: 'discord' });
  const until = expect.any(Number);
  const waiting = { state: 'waiting', until, sessionKey: expect.any(String), attempts: 1 };
  const waits = [
    { ...waiting, channel: 'discord', state: 'parked', detail: 'HTTP 401', attempts: expect.any(Number) },
    { channel: 'chat', to: 'ann', detail: 'the receiver asked to wait (HTTP 429)', ...waiting },
    { channel: 'chat', to: 'cy', detail: 'HTTP 503', ...waiting },
  ];
  const told = (one: Service) => one.waiting?.().toSorted((a, b) => (a.to ?? '').localeCompare(b.to ?? ''));
  await rig.until(() => expect(told(service)).toEqual(waits));
  await service.stop(1_000);
  expect([service.waiting?.(), service.warnings?.(), service.metrics().parked_accounts]).toEqual([[], [], 0]);
  const next = await rig.start('two');
  await rig.until(() => expect(told(next)).toEqual(waits));
});
