import { expect, test, vi } from 'vitest';
import { type Name, openGateway } from '../access/access-rig.ts';
import { afterwards, type Call, pathOf, type Stream } from '../setup.ts';

vi.mock('../../../../shared/kit/limits.ts', async (original) => {
  const { limits } = await original<typeof import('../../../../shared/kit/limits.ts')>();
  return { limits: { ...limits, streamClients: 3, streamClientsEach: 2, waitingCalls: 3, waitingCallsEach: 2 } };
});

const gauge = async (call: Call, name: string) => {
  const { text } = await call('GET', '/metrics');
  return Number(new RegExp(`^natter_${name}\\{.*\\} (\\d+)$`, 'm').exec(text)?.[1]);
};

test('I11: no token takes all the streams, and all together no more than there are', async () => {
  const { as, stream } = await openGateway();
  const open: Stream[] = [];
  const statusOf = async (name: Name) => {
    const opened = await stream(name, '/v1/events');
    if (opened.status === 200) open.push(opened);
    return opened.status;
  };
  expect([await statusOf('ann'), await statusOf('ann'), await statusOf('ann')]).toEqual([200, 200, 429]);
  expect((await as.ann('GET', '/v1/events')).status).toBe(200);
  expect([await statusOf('bob'), await statusOf('bob')]).toEqual([200, 429]);
  open[0]?.close();
  await vi.waitFor(async () => expect(await gauge(as.owner, 'event_streams')).toBe(2));
  expect([await statusOf('eve'), await statusOf('eve')]).toEqual([200, 429]);
});

test('I11: a stream that is refused takes no place', async () => {
  const { as, stream } = await openGateway();
  for (const _ of [1, 2, 3]) expect((await stream('ann', pathOf('agent:main:telegram:group:x', '/events'))).status).toBe(404);
  expect(await gauge(as.owner, 'event_streams')).toBe(0);
});

test('I11: no token takes all the waiting, by whichever call', async () => {
  const { as, host } = await openGateway();
  host.hold();
  const leaving = new AbortController();
  afterwards(async () => leaving.abort());
  const key = 'agent:main:main';
  const byPath = (name: Name) =>
    as[name]('POST', pathOf(key, '/messages?wait=30'), { body: { text: 'hi' }, signal: leaving.signal });
  const byName = (name: Name) =>
    as[name]('POST', '/v1/rpc', {
      body: { method: 'agent', params: { sessionKey: key, message: 'hi', timeoutSeconds: 30 } },
      signal: leaving.signal,
    });
  const waits = [byPath('owner'), byName('owner')].map((call) => call.catch(() => null));
  await vi.waitFor(async () => expect(await gauge(as.owner, 'waiting_calls')).toBe(2));
  for (const call of [byPath, byName]) expect((await call('owner')).body).toMatchObject({ status: 429, code: 'overloaded' });
  waits.push(byPath('second').catch(() => null));
  await vi.waitFor(async () => expect(await gauge(as.owner, 'waiting_calls')).toBe(3));
  expect((await byName('second')).status).toBe(429);
  leaving.abort();
  await Promise.all(waits);
  await vi.waitFor(async () => expect(await gauge(as.owner, 'waiting_calls')).toBe(0));
});
