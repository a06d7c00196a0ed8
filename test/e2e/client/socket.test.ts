import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, type StreamItem } from '../../../shared/client/main.ts';
import { startWorld, token } from '../gateway/setup.ts';
import { closedAfterwards, startBalancer } from './balancer.ts';
import { pretend } from './pretend.ts';

const key = 'agent:main:main';
const start = async (secret = token) => {
  const { gateway, host } = await startWorld();
  const balancer = await startBalancer([gateway.url]);
  return { balancer, host, client: createClient({ url: balancer.url, token: secret, WebSocket, patienceMs: 0 }) };
};

describe('calls over a WebSocket', () => {
  test('are answered in any order, with the codes of HTTP', async () => {
    const { client } = await start();
    const connection = closedAfterwards(await client.connect());
    const [agent, list] = [
      connection.call('agent', { sessionKey: 'main', message: 'hello', timeoutSeconds: 10 }),
      connection.call('sessions.list'),
    ];
    expect(await list).toHaveProperty('sessions');
    expect(await agent).toMatchObject({ status: 'ok', reply: 'you said: hello' });
    await expect(connection.call('sessions.burn')).rejects.toMatchObject({
      ...{
        name: 'NatterApiError',
        code: 'invalid',
        errors: [{ field: 'method' }],
        detail: expect.stringContaining('sessions.list'),
      },
    });
    await expect(connection.call('status', {}, { signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
  });

  test('what may be asked twice survives the connection; what may not is told so', async () => {
    const { client, balancer, host } = await start();
    const connection = closedAfterwards(await client.connect());
    host.hold();
    const safe = connection.call('agent', { sessionKey: 'main', message: 'a', timeoutSeconds: 20, idempotencyKey: 'm-1' });
    const unsafe = connection.call('agent', { sessionKey: 'other', message: 'b', timeoutSeconds: 20 });
    await vi.waitFor(async () => expect(await client.get('/v1/sessions')).toMatchObject({ sessions: [{}, {}] }));
    balancer.takeOver();
    await expect(unsafe).rejects.toMatchObject({ code: 'unreachable' });
    const later = connection.call('status');
    await host.release();
    expect(await safe).toMatchObject({ status: 'ok', reply: 'you said: a' });
    expect(await later).toMatchObject({ status: 'ready' });
  });

  test('an `idempotencyKey` that is not given makes nothing repeatable', async () => {
    let sent = 0;
    const { client } = await pretend((say, { type, id, method }, socket) => {
      if (type === 'auth') return say({ type: 'hello' });
      if (method !== 'agent') return say({ type: 'res', id, ok: true, result: {} });
      sent += 1;
      socket.terminate();
    });
    const connection = closedAfterwards(await client.connect());
    const given: { idempotencyKey?: string | undefined } = { idempotencyKey: undefined };
    await expect(connection.call('agent', { message: 'pay', ...given })).rejects.toMatchObject({ code: 'unreachable' });
    await connection.call('status');
    expect(sent).toBe(1);
  });

  test('end with the connection, and after it', async () => {
    const { client, host } = await start();
    const connection = await client.connect();
    host.hold();
    const waiting = connection.call('agent', { sessionKey: 'main', message: 'a', timeoutSeconds: 20, idempotencyKey: 'm-1' });
    const items = await connection.subscribe({ after: 0 });
    connection.close();
    await expect(waiting).rejects.toMatchObject({ code: 'closed' });
    await expect(connection.call('status')).rejects.toMatchObject({ code: 'closed' });
    await expect(connection.subscribe()).rejects.toMatchObject({ code: 'closed' });
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  test('no answer in time is a timeout', async () => {
    const { client } = await pretend((say, { type }) => type === 'auth' && say({ type: 'hello' }));
    const connection = await client.connect();
    await expect(connection.call('status', {}, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout' });
    const calls = Array.from({ length: 33 }, () => connection.call('status'));
    await expect(calls[32]).rejects.toMatchObject({ code: 'overloaded' });
    connection.close();
    const ends = (await Promise.allSettled(calls)).map((end) => end.status === 'rejected' && end.reason.code);
    expect(new Set(ends.slice(0, 32))).toEqual(new Set(['closed']));
  });
});

describe('a connection', () => {
  test('is not made with a wrong token, nor where nobody is', async () => {
    const { client } = await start('wrong');
    await expect(client.connect()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
    const nobody = createClient({ url: 'http://127.0.0.1:1', token, WebSocket, patienceMs: 0 });
    await expect(nobody.connect()).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('127.0.0.1:1'),
    });
    const nameless = createClient({ url: 'http://127.0.0.1:1', token: () => Promise.reject(new Error('no token')), WebSocket });
    await expect(nameless.connect()).rejects.toThrow('no token');
  });

  test('that ends for good ends what it carries, with the reason', async () => {
    const { client } = await pretend((say, { type, id }, socket) => {
      if (type === 'auth') return say({ type: 'hello' });
      say({ type: 'res', id, ok: true, result: { subscription: '1', after: '0' } });
      socket.close(4401, 'the token has ended');
    });
    const items = await closedAfterwards(await client.connect()).subscribe();
    await expect(items.next()).rejects.toMatchObject({ code: 'unauthorized', message: 'the token has ended' });
  });
});

describe('a subscription', () => {
  test('refused by what time mends is asked for again; one that is ended goes on, or tells why not', async () => {
    const asked: any[] = [];
    const { client } = await pretend((say, { type, id, params }) => {
      if (type === 'auth') return say({ type: 'hello' });
      asked.push(params);
      if (asked.length === 1) return say({ type: 'res', id, ok: false, error: { code: 'overloaded', message: 'later' } });
      say({ type: 'res', id, ok: true, result: { subscription: String(asked.length), after: '4' } });
      const subscription = String(asked.length);
      if (asked.length === 2) {
        say({ type: 'event', subscription, id: '5.0', event: { id: '5.0', type: 'notice' } });
        say({ type: 'end', subscription, after: '5.0', error: { code: 'unavailable', message: 'the broker is away' } });
      } else say({ type: 'end', subscription, after: '5.0', error: { code: 'not_found', message: 'not yours' } });
    });
    const items = await closedAfterwards(await client.connect()).subscribe({ key });
    expect((await items.next()).value).toMatchObject({ id: '5.0' });
    await expect(items.next()).rejects.toMatchObject({ code: 'not_found', message: 'not yours' });
    expect(asked).toEqual([{ sessionKey: key }, { sessionKey: key }, { sessionKey: key, after: '5.0' }]);
  });

  test('that is refused leaves nothing on its signal', async () => {
    const { client } = await start();
    const connection = closedAfterwards(await client.connect());
    const { signal } = new AbortController();
    for (let time = 0; time < 3; time++)
      await expect(connection.subscribe({ key: 'a b', signal })).rejects.toMatchObject({ code: 'invalid' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('whose reader throws ends alone: the others go on, and who begins after its last event sees the rest once', async () => {
    const { client } = await start();
    for (let turn = 0; turn < 5; turn++) await client.sessions.post(key, 'x', { wait: 10 });
    const { events } = await client.get<{ events: { id: string }[] }>('/v1/events?limit=1000');
    const connection = closedAfterwards(await client.connect());
    const ids = (handler: (seen: readonly string[]) => void, items: AsyncIterable<StreamItem>) => {
      const seen: string[] = [];
      const ended = (async () => {
        for await (const item of items) {
          if (!('id' in item)) continue;
          seen.push(item.id);
          handler(seen);
        }
      })();
      return { seen, ended };
    };
    const other = ids(() => {}, await connection.subscribe({ after: 0 }));
    void other.ended.catch(() => {});
    const thrower = ids(
      (seen) => {
        if (seen.length === 3) throw new RangeError('the handler is broken');
      },
      await connection.subscribe({ after: 0 }),
    );
    await expect(thrower.ended).rejects.toThrow(new RangeError('the handler is broken'));
    await expect.poll(() => metric(client)).toBe(1);
    const again = ids(() => {}, await connection.subscribe({ after: thrower.seen.at(-1) ?? '' }));
    void again.ended.catch(() => {});
    await client.sessions.post(key, 'after it threw', { wait: 10 });
    await expect.poll(() => other.seen.length).toBeGreaterThan(events.length);
    await expect.poll(() => [...thrower.seen, ...again.seen]).toEqual(other.seen);
    expect(other.seen.slice(0, events.length)).toEqual(events.map(({ id }) => id));
  });

  test('whose reader is slow is let go, and goes on from where it was once it has come by', async () => {
    const { client, balancer } = await start();
    for (let turn = 0; turn < 300; turn++) await client.sessions.post(`agent:main:s${turn % 10}`, 'x', { wait: 10 });
    const connection = closedAfterwards(await client.connect());
    const items = await connection.subscribe({ after: 0 });
    const ids: string[] = [];
    const read = (item: StreamItem) => 'id' in item && ids.push(item.id);
    for await (const item of items) {
      // The reader is away while more comes than may wait for it.
      if (read(item) === 1) await expect.poll(async () => (await metric(client)) === 0).toBe(true);
      if (ids.length === 600) balancer.takeOver();
      if (ids.length === 1_200) break;
    }
    const { events } = await client.get<{ events: { id: string }[] }>('/v1/events?limit=1000');
    expect(ids.slice(0, 1_000)).toEqual(events.map(({ id }) => id));
    expect(new Set(ids).size).toBe(1_200);
    expect(ids).toEqual(ids.toSorted((one, other) => Number(one.split('.')[0]) - Number(other.split('.')[0])));
  });
});
/** Streams that the gateway has open. */
const metric = async (client: ReturnType<typeof createClient>): Promise<number> => {
  const response = await fetch(`${client.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return Number(/^natter_event_streams\{[^}]*\} (\d+)$/m.exec(await response.text())?.[1]);
};
