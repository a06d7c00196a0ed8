import { describe, expect, test, vi } from 'vitest';
import type { Callers } from '../../../../services/gateway/context/callers.ts';
import { Tickets } from '../../../../services/gateway/context/tickets.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { Tokens } from '../../../../shared/ports/access/tokens.ts';
import { openBroker, pathOf } from '../setup.ts';
import { movableClock, type Replicas, startReplicas, untilStatus } from './token-rig.ts';

/** One-time tickets for the event streams of browsers (I12). */

const accept = { accept: 'text/event-stream' };
const ticketFor = async ({ admin }: Replicas, path = '/v1/events'): Promise<string> => {
  const { status, body } = await admin('POST', '/v1/tickets', { body: { path } });
  expect(status).toBe(201);
  return body.ticket;
};
/** Opens a stream as `EventSource` does: without a header of its own. */
const open = async ({ urls }: Replicas, path: string, at: 0 | 1 = 0) => {
  const controller = new AbortController();
  const response = await fetch(`${urls[at]}${path}`, { headers: accept, signal: controller.signal });
  const problem = response.status === 200 ? null : ((await response.json()) as { code: string; field?: string });
  return { status: response.status, problem, response, close: () => controller.abort() };
};

describe('a ticket', () => {
  test('opens one stream at its path, with any query, on any replica', async () => {
    const replicas = await startReplicas();
    for (const at of [0, 1] as const) {
      const ticket = await ticketFor(replicas);
      expect(ticket).toMatch(/^natter_[\w-]{43}$/);
      const { status, response, close } = await open(replicas, `/v1/events?ticket=${ticket}&after=0`, at);
      expect([status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
      close();
      for (const again of [0, 1] as const)
        expect((await open(replicas, `/v1/events?ticket=${ticket}`, again)).problem).toMatchObject({ code: 'unauthorized' });
    }
  });

  test('is for one of two who use it at once, on two replicas', async () => {
    const replicas = await startReplicas();
    for (let round = 0; round < 5; round++) {
      const ticket = await ticketFor(replicas);
      const both = await Promise.all(([0, 1] as const).map((at) => open(replicas, `/v1/events?ticket=${ticket}`, at)));
      expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
      for (const { close } of both) close();
    }
  });

  test('is late after 30 s', async () => {
    const clock = movableClock();
    const replicas = await startReplicas({}, clock);
    const [early, late] = [await ticketFor(replicas), await ticketFor(replicas)];
    clock.advance(25_000);
    expect((await open(replicas, `/v1/events?ticket=${early}`)).status).toBe(200);
    clock.advance(6_000);
    expect((await open(replicas, `/v1/events?ticket=${late}`)).status).toBe(401);
  });

  test('is for its path alone, and used up elsewhere', async () => {
    const replicas = await startReplicas();
    await replicas.admin('POST', pathOf('agent:main:a', '/open'));
    const path = pathOf('agent:main:a', '/events');
    const ticket = await ticketFor(replicas, path);
    expect((await open(replicas, `${pathOf('agent:main:b', '/events')}?ticket=${ticket}`)).status).toBe(401);
    expect((await open(replicas, `${path}?ticket=${ticket}`)).status).toBe(401);
    const right = await open(replicas, `${path}?ticket=${await ticketFor(replicas, path)}`);
    expect(right.status).toBe(200);
    right.close();
  });

  test('sees what its caller sees, and ends with its token', async () => {
    const replicas = await startReplicas();
    const { make, as, admin } = replicas;
    await admin('POST', pathOf('agent:main:discord:group:g', '/open'));
    const { token, id } = await make({ role: 'channel', namespace: 'telegram' });
    await untilStatus(as(token, 1), 200);
    const mint = async (path: string) => (await as(token)('POST', '/v1/tickets', { body: { path } })).body.ticket;
    const foreign = pathOf('agent:main:discord:group:g', '/events');
    expect((await open(replicas, `${foreign}?ticket=${await mint(foreign)}`)).status).toBe(404);
    const [used, kept] = [await mint('/v1/events'), await mint('/v1/events')];
    const { status, response } = await open(replicas, `/v1/events?ticket=${used}`, 1);
    expect(status).toBe(200);
    await admin('DELETE', `/v1/tokens/${id}`);
    expect(await response.text()).toContain('this token was revoked');
    await vi.waitFor(async () => expect((await as(token, 1)('GET', '/v1/events')).status).toBe(401));
    expect((await open(replicas, `/v1/events?ticket=${kept}`, 1)).status).toBe(401);
  });

  test('I12: ends with the secret that asked for it', async () => {
    const replicas = await startReplicas();
    const { make, as, admin } = replicas;
    const { token, id } = await make({ role: 'read-only' });
    const mint = async () => (await as(token)('POST', '/v1/tickets', { body: { path: '/v1/events' } })).body.ticket;
    const [used, kept] = [await mint(), await mint()];
    const { status, response, close } = await open(replicas, `/v1/events?ticket=${used}`);
    expect(status).toBe(200);
    expect((await admin('POST', `/v1/tokens/${id}/rotate`)).status).toBe(200);
    // Whoever has the old secret has nothing more by what they got with it.
    setTimeout(close, 4_000).unref();
    expect(await response.text()).toContain('this token was replaced by a new one');
    expect((await open(replicas, `/v1/events?ticket=${kept}`)).status).toBe(401);
  });

  test('opens nothing but event streams, and no token in an address opens anything', async () => {
    const replicas = await startReplicas();
    const { as, admin, make } = replicas;
    const { token } = await make({ role: 'owner' });
    const ticket = await ticketFor(replicas);
    const nobody = as(null);
    for (const path of [`/v1/events?ticket=${ticket}`, `/v1/sessions?ticket=${ticket}`, `/metrics?ticket=${ticket}`])
      expect((await nobody('GET', path)).status).toBe(401);
    for (const name of ['token', 'access_token', 'authorization', 'ticket'])
      expect((await nobody('GET', `/v1/events?${name}=${token}`, { headers: accept })).status).toBe(401);
    expect((await nobody('GET', `/v1/events?ticket=${ticket}&ticket=${ticket}`, { headers: accept })).status).toBe(401);
    // With a token in the header the ticket is a parameter that is not known there.
    expect((await admin('GET', `/v1/events?ticket=${ticket}`, { headers: accept })).body).toMatchObject({ field: 'ticket' });
    expect((await open(replicas, `/v1/events?ticket=${ticket}`)).status).toBe(200);
  });

  const wrongPaths = [
    '',
    'v1/events',
    '//evil/v1/events',
    '/v1/events?after=0',
    '/v1/ev ents',
    '/v1/events#x',
    7,
    `/v1/${'a'.repeat(5_000)}`,
  ];
  test.each(wrongPaths)('is not made for %j', async (path) => {
    const { admin } = await startReplicas();
    expect((await admin('POST', '/v1/tickets', { body: { path } })).body).toMatchObject({ code: 'invalid', field: 'path' });
  });

  test('I11: one token gets so many a minute', async () => {
    const { tokens } = openBroker().portsFor('gateway');
    const clock = { ...systemClock, monotonic: () => 0 };
    const tickets = new Tickets(tokens, clock, { named: () => null } as unknown as Callers);
    const ask = () => tickets.issue({ actor: 'token:a', digest: Buffer.alloc(32) }, '/v1/events');
    for (let asked = 0; asked < limits.ticketsPerMinute; asked++) await ask();
    await expect(ask()).rejects.toMatchObject({ code: 'overloaded' });
  });

  test('I11: who guesses has the broker asked so many times a minute, and is told to wait then', async () => {
    let asked = 0;
    const takeTicket = async () => {
      asked += 1;
      return null;
    };
    const clock = { ...systemClock, monotonic: () => 0 };
    const callers = { named: () => null } as unknown as Callers;
    const tickets = new Tickets({ takeTicket } as unknown as Tokens, clock, callers);
    const guess = (ip: string) => tickets.redeem({ url: '/v1/events', ip }, `natter_${'a'.repeat(43)}`);
    for (let count = 0; count < limits.ticketsPerMinute; count++)
      await expect(guess('192.0.2.1')).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(guess('192.0.2.1')).rejects.toMatchObject({ code: 'overloaded' });
    expect(asked).toBe(limits.ticketsPerMinute);
    await expect(guess('192.0.2.2')).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
