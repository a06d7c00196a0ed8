import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type Connection, createClient } from '../../../shared/client/main.ts';
import { startWorld, token } from '../gateway/setup.ts';
import { closedAfterwards, startBalancer } from './balancer.ts';
import { pretend, type Turn } from './pretend.ts';

/** What goes wrong around a connection harms no more than it must, and leaves nothing behind. */

const start = async () => {
  const { gateway } = await startWorld();
  const balancer = await startBalancer([gateway.url]);
  return { balancer, client: createClient({ url: balancer.url, token, WebSocket }) };
};
/** A gateway that lets everybody in and leaves the rest to somebody else. */
const greeting =
  (then: Turn = () => {}): Turn =>
  (say, heard, socket) =>
    heard.type === 'auth' ? say({ type: 'hello' }) : then(say, heard, socket);

describe('a token', () => {
  test('may have the line break of the file that it is kept in, here as over HTTP', async () => {
    const { balancer } = await start();
    const client = createClient({ url: balancer.url, token: () => `${token}\n`, WebSocket });
    expect(await client.get('/v1/sessions')).toHaveProperty('sessions');
    expect(await closedAfterwards(await client.connect()).call('status')).toHaveProperty('status');
  });

  test('that cannot be renewed while there is no network is asked for again, as for calls over HTTP', async () => {
    const { balancer } = await start();
    let asked = 0;
    const renewed = async () => {
      asked += 1;
      if (asked === 2) throw new TypeError('fetch failed');
      return token;
    };
    const reasons: string[] = [];
    const client = createClient({ url: balancer.url, token: renewed, WebSocket });
    const connection = closedAfterwards(await client.connect({ onWaiting: (reason) => reasons.push(reason) }));
    balancer.takeOver();
    expect(await connection.call('status')).toMatchObject({ status: 'ready' });
    expect(reasons[1]).toContain('where the token comes from');
  });

  test('that never comes keeps nothing open that is closed', async () => {
    const { balancer } = await start();
    let asked = 0;
    const slow = () => (++asked === 1 ? token : new Promise<never>(() => {}));
    const connection = closedAfterwards(await createClient({ url: balancer.url, token: slow, WebSocket }).connect());
    const items = await connection.subscribe();
    balancer.takeOver();
    await vi.waitFor(() => expect(asked).toBe(2));
    const waiting = connection.call('status');
    connection.close();
    await expect(waiting).rejects.toMatchObject({ code: 'closed' });
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });
});

describe('a connection', () => {
  test('that nobody answers any more ends with `close` all the same', async () => {
    let isSilent = false;
    const { client } = await pretend(
      greeting((say, { id, method }, socket) => {
        if (method === 'subscribe') return say({ type: 'res', id, ok: true, result: { subscription: '1', after: '0' } });
        socket.pause();
        isSilent = true;
      }),
    );
    const connection = await client.connect();
    const items = await connection.subscribe();
    const waiting = connection.call('status');
    await vi.waitFor(() => expect(isSilent).toBe(true));
    const began = performance.now();
    connection.close();
    await expect(waiting).rejects.toMatchObject({ code: 'closed' });
    expect(await items.next()).toEqual({ done: true, value: undefined });
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('is asked for in growing pauses where each ends as soon as it has begun', async () => {
    const { client, connections } = await pretend((say, _, socket) => {
      say({ type: 'hello' });
      socket.close(1001);
    });
    closedAfterwards(await client.connect());
    await vi.waitFor(() => expect(connections()).toBeGreaterThan(2));
    const began = performance.now();
    const before = connections();
    await vi.waitFor(() => expect(connections()).toBeGreaterThan(before + 1));
    expect(performance.now() - began).toBeGreaterThan(1_000);
  });

  test.each(['{"type":"event","subscription":"1","id":"5.0"}', '{"type":"delta"', '[]', 'null', 'hello'])(
    'that hears %s is made again',
    async (text) => {
      const begun: Turn = (say, { id }) => say({ type: 'res', id, ok: true, result: { subscription: '1', after: '4' } });
      const { client } = await pretend(
        greeting((say, heard, socket) => {
          begun(say, heard, socket);
          socket.send(text);
        }),
        greeting((say, heard, socket) => {
          begun(say, heard, socket);
          say({ type: 'event', subscription: '1', id: '6.0', event: { type: 'notice', ...heard.params } });
        }),
      );
      const items = await closedAfterwards(await client.connect()).subscribe();
      expect((await items.next()).value).toMatchObject({ type: 'notice', after: '4' });
    },
  );

  test('that has ended for good says why to whoever comes later', async () => {
    const { client } = await pretend(
      greeting((say, { id }, socket) => {
        say({ type: 'res', id, ok: true, result: {} });
        socket.close(4401, 'the token has ended');
      }),
    );
    const connection = await client.connect();
    await connection.call('status');
    const problem = { code: 'unauthorized', message: 'the token has ended' };
    await vi.waitFor(() => expect(connection.call('status')).rejects.toMatchObject(problem));
    await expect(connection.subscribe()).rejects.toMatchObject(problem);
    connection.close();
    await expect(connection.call('status')).rejects.toMatchObject(problem);
  });

  test('that hears what nobody knows yet goes on', async () => {
    const { client, connections } = await pretend(
      greeting((say, { id }) => {
        say({ type: 'res', id: 'of another', ok: true });
        say({ type: 'of_tomorrow', more: [1] });
        say({ type: 'event', subscription: '99', id: '6.0', event: { type: 'notice' } });
        say({ type: 'res', id, ok: true, result: { more: 1 } });
      }),
    );
    const connection = closedAfterwards(await client.connect());
    expect(await connection.call('status')).toEqual({ more: 1 });
    expect(connections()).toBe(1);
  });

  test('tells of a refusal without words, too', async () => {
    const { client } = await pretend(greeting((say, { id }) => say({ type: 'res', id, ok: false })));
    const connection = closedAfterwards(await client.connect());
    await expect(connection.call('status')).rejects.toMatchObject({ name: 'NatterApiError', code: 'unexpected' });
    await expect(connection.subscribe()).rejects.toMatchObject({ name: 'NatterApiError', code: 'unexpected' });
  });

  test('without a WebSocket is refused as a promise is', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1', token, WebSocket: undefined });
    const connecting = client.connect();
    if (!('WebSocket' in globalThis)) await expect(connecting).rejects.toThrow(/"ws"/);
  });
});

describe('a call', () => {
  test('may have all the time there is', async () => {
    const { client } = await start();
    const connection = closedAfterwards(await client.connect());
    const given = { sessionKey: 'main', message: 'hello', timeoutSeconds: 10 };
    expect(await connection.call('agent', given, { timeoutMs: Number.POSITIVE_INFINITY })).toMatchObject({ status: 'ok' });
  });

  test.each([
    ['is larger than a frame may be', 'x'.repeat(300_000), 'too_large', 'with POST /v1/rpc'],
    ['is larger in UTF-8', 'ü'.repeat(140_000), 'too_large', 'with POST /v1/rpc'],
    ['has half a character', 'cut off \u{1f44b}'.slice(0, -1), 'invalid', 'send whole characters'],
  ])('that %s is refused, and the connection goes on', async (_, message, code, told) => {
    const { client, balancer } = await start();
    const connection = closedAfterwards(await client.connect());
    const made = balancer.made();
    const given = { sessionKey: 'main', message, idempotencyKey: 'm-1' };
    await expect(connection.call('chat.send', given)).rejects.toMatchObject({
      ...{ name: 'NatterApiError', code, message: expect.stringContaining(told) },
    });
    expect(await connection.call('chat.send', { ...given, message: '\\ud83d is no such half' })).toHaveProperty('runId');
    expect(balancer.made()).toBe(made);
  });
});

describe('a subscription', () => {
  test.each([
    [
      'its reader leaves before the first item',
      async (connection: Connection) => void (await (await connection.subscribe()).return()),
    ],
    [
      'its signal aborts and nobody reads',
      async (connection: Connection) => {
        const enough = new AbortController();
        await connection.subscribe({ signal: enough.signal });
        enough.abort();
        expect(getEventListeners(enough.signal, 'abort')).toEqual([]);
      },
    ],
    [
      'its signal had aborted before',
      async (connection: Connection) => void (await connection.subscribe({ signal: AbortSignal.abort() })),
    ],
  ])('is over at the gateway once %s', async (_, leave) => {
    let open = 0;
    const asked: string[] = [];
    const { client } = await pretend(
      greeting((say, { id, method }) => {
        asked.push(method);
        if (method === 'subscribe') open += 1;
        if (method === 'unsubscribe') open -= 1;
        say({ type: 'res', id, ok: true, result: { subscription: String(asked.length), after: '0' } });
      }),
    );
    const connection = closedAfterwards(await client.connect());
    await leave(connection);
    await connection.call('status');
    expect(open).toBe(0);
  });

  test('leaves nothing on its signal once the connection is closed', async () => {
    const { client } = await start();
    const connection = await client.connect();
    const { signal } = new AbortController();
    const items = await connection.subscribe({ signal });
    connection.close();
    await expect(connection.call('status')).rejects.toMatchObject({ code: 'closed' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  test('is left at the gateway even while that makes as many calls as it does', async () => {
    let unsubscribed = 0;
    const hanging: number[] = [];
    let answer = (_: number): void => {};
    const { client } = await pretend(
      greeting((say, { id, method }) => {
        answer = (one) => say({ type: 'res', id: one, ok: true, result: {} });
        if (method === 'subscribe') return say({ type: 'res', id, ok: true, result: { subscription: '1', after: '0' } });
        if (method === 'unsubscribe') unsubscribed += 1;
        else hanging.push(id);
      }),
    );
    const connection = closedAfterwards(await client.connect());
    const items = await connection.subscribe();
    const calls = Array.from({ length: 32 }, () => connection.call('status'));
    await vi.waitFor(() => expect(hanging).toHaveLength(32));
    await items.return();
    for (const id of hanging) answer(id);
    await Promise.all(calls);
    await vi.waitFor(() => expect(unsubscribed).toBe(1));
  });

  test('that is refused for a while is asked for no sooner than it is told, and in growing pauses', async () => {
    const asked: number[] = [];
    const { client } = await pretend(
      greeting((say, { id }) => {
        asked.push(performance.now());
        const later = asked.length === 1 ? { retryAfterMs: 1_500 } : {};
        if (asked.length < 5) say({ type: 'res', id, ok: false, error: { code: 'overloaded', message: 'later', ...later } });
        else say({ type: 'res', id, ok: true, result: { subscription: '1', after: '0' } });
      }),
    );
    const connection = closedAfterwards(await client.connect());
    await connection.subscribe();
    const pauses = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
    expect(pauses[0]).toBeGreaterThan(1_400);
    expect(pauses[3]).toBeGreaterThan(900);
  });
});
