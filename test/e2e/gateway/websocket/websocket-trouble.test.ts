import { beforeEach, expect, test, vi } from 'vitest';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { type Call, callerOf, openGateway, pathOf, ready, startWorld, token } from '../setup.ts';
import { connect, knock, opened } from './websocket-client.ts';

const limits = vi.hoisted(() => ({ streamStallMs: 151, socketClients: 520, socketClientsEach: 510 }));
vi.mock('../../../../shared/kit/limits.ts', async (original) => {
  const { limits: usual } = await original<typeof import('../../../../shared/kit/limits.ts')>();
  return { limits: Object.assign(limits, { ...usual, ...limits }) };
});
beforeEach(() => {
  limits.streamStallMs = 151;
});

const pingMs = 30_000;
const key = 'agent:main:main';
const say = (call: Call, text: string) => call('POST', pathOf(key, '/messages?wait=5'), { body: { text } });
const gauge = async (call: Call, name: string) =>
  Number(new RegExp(`^natter_${name}\\{.*\\} (\\d+)$`, 'm').exec((await call('GET', '/metrics')).text)?.[1]);

test('I11: a client that does not read is closed with its cursors, resumes without gap or repeat, and nobody else notices', async () => {
  const { call, gateway, memory } = await startWorld();
  const [healthy, slow] = [await connect(gateway.url), await connect(gateway.url)];
  for (const client of [healthy, slow]) await client.call('subscribe', { after: '0' });
  await slow.call('subscribe', { sessionKey: 'agent:main:quiet' });
  slow.socket.pause();
  const text = 'x'.repeat(200_000);
  for (let turn = 0; turn < 25; turn++) await say(call, text);
  const ids: string[] = (await call('GET', '/v1/events?limit=1000')).body.events.map(({ id }: { id: string }) => id);
  await vi.waitFor(() => expect(healthy.ids()).toEqual(ids));
  await vi.waitFor(async () => expect(await gauge(call, 'web_sockets')).toBe(1));
  expect(await gauge(call, 'event_streams')).toBe(1);
  slow.socket.resume();
  const { code, reason } = await slow.closed;
  const last = slow.ids().at(-1);
  expect([code, reason]).toEqual([4408, `reads too slowly; after 1=${last} 2=0`]);
  expect(last).not.toBe(ids.at(-1));
  limits.streamStallMs = 30_000;
  const other = await openGateway(memory.portsFor('gateway-2'));
  await ready(callerOf(other.url));
  const again = await connect(other.url);
  await again.call('subscribe', { after: last as string });
  await vi.waitFor(() => expect([...slow.ids(), ...again.ids()]).toEqual(ids));
});

test('I11: a client that asks and does not read the answers is read no further, and then closed', async () => {
  const { call, gateway } = await startWorld();
  await say(call, 'x'.repeat(200_000));
  const greedy = await connect(gateway.url);
  greedy.socket.pause();
  const frame = JSON.stringify({ type: 'req', id: 1, method: 'chat.history', params: { sessionKey: 'main' } });
  for (let request = 0; request < 200; request++) greedy.socket.send(frame);
  await vi.waitFor(async () => expect(await gauge(call, 'web_sockets')).toBe(0));
  greedy.socket.resume();
  expect(await greedy.closed).toMatchObject({ code: 4408 });
});

test('a client that is not there any more is noticed by its missing pongs', async () => {
  const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms === pingMs ? 30 : ms, signal) };
  const { gateway, call } = await startWorld({ clock });
  const [gone, alive] = [await connect(gateway.url), await connect(gateway.url)];
  let pings = 0;
  alive.socket.on('ping' as 'pong', () => {
    pings += 1;
  });
  gone.socket.pause();
  await vi.waitFor(async () => expect(await gauge(call, 'web_sockets')).toBe(1));
  await vi.waitFor(() => expect(pings).toBeGreaterThan(5));
  expect((await alive.call('status')).ok).toBe(true);
});

test('when the gateway stops all are told where they go on, and who does not answer holds nothing up', async () => {
  const { gateway } = await startWorld();
  const [polite, deaf, stranger] = [await connect(gateway.url), await connect(gateway.url), knock(gateway.url)];
  await opened(stranger);
  await polite.call('subscribe', { after: '0' });
  deaf.socket.pause();
  const started = performance.now();
  await gateway.stop(10_000);
  expect(await polite.closed).toEqual({ code: 1001, reason: 'the gateway stops; after 1=0' });
  expect(await stranger.closed).toEqual({ code: 1001, reason: 'the gateway stops' });
  expect(performance.now() - started).toBeLessThan(3_000);
});

test('I11: one address that connects and says nothing takes no place from those of other addresses, who warn of nothing', async () => {
  const { gateway } = await startWorld();
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const silent = Array.from({ length: 510 }, () => knock(gateway.url));
  await Promise.all(silent.map(opened));
  expect(await knock(gateway.url).closed).toMatchObject({ code: 4429 });
  const honest = knock(gateway.url, {}, '127.0.0.2');
  await opened(honest);
  honest.send({ type: 'auth', token });
  expect(await honest.next('hello')).toMatchObject({ protocol: 1 });
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test('I11: pings are answered, but not kept for a client that reads no answer', async () => {
  const { call, gateway } = await startWorld();
  const [healthy, deaf] = [await connect(gateway.url), await connect(gateway.url)];
  const answered = new Promise<string>((resolve) => healthy.socket.on('pong', (data) => resolve(data.toString())));
  healthy.socket.ping('are you there?');
  expect(await answered).toBe('are you there?');
  deaf.socket.pause();
  for (let count = 0; count < 200_000; count++) deaf.socket.ping('x'.repeat(120));
  await vi.waitFor(async () => expect(await gauge(call, 'web_sockets')).toBe(1));
  expect((await healthy.call('status')).ok).toBe(true);
});

test('I11: 500 idle clients cost little, one too many is refused, and the others go on', async () => {
  const { gateway, call } = await startWorld();
  const before = process.memoryUsage().heapUsed + process.memoryUsage().external;
  const clients = await Promise.all(Array.from({ length: 500 }, () => connect(gateway.url)));
  const perClient = (process.memoryUsage().heapUsed + process.memoryUsage().external - before) / 500;
  // Both ends are in this process.
  expect(perClient).toBeLessThan(100_000);
  expect(await gauge(call, 'web_sockets')).toBe(500);
  const more = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const stranger = knock(gateway.url);
      await opened(stranger);
      return stranger;
    }),
  );
  expect(await knock(gateway.url).closed).toMatchObject({ code: 4429 });
  expect((await clients[0]?.call('status'))?.ok).toBe(true);
  for (const each of [...more, ...clients]) each.socket.close();
  await vi.waitFor(async () => expect(await gauge(call, 'web_sockets')).toBe(0));
});
