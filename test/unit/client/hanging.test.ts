import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../shared/client/main.ts';
import { serve } from './server.ts';

/** Nothing that another side leaves undone keeps a caller for longer than they want. */

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
/** What a promise comes to, while all that nobody holds any more is thrown away. */
const whatever = async (promise: Promise<unknown>): Promise<unknown> => {
  let end: unknown = 'nothing';
  void promise.then(
    () => (end = 'done'),
    (error) => (end = (error as { code?: string }).code ?? error),
  );
  await expect
    .poll(
      () => {
        collectGarbage();
        return end;
      },
      { timeout: 10_000 },
    )
    .not.toBe('nothing');
  return end;
};
const nowhere = 'http://127.0.0.1:1';
/** A gateway that begins to answer and does not go on. */
const begun = async (status: number, reached: () => void) => {
  const { url } = await serve((_, response) => void response.writeHead(status).write('{"a":'));
  const told: typeof fetch = async (...given) => {
    const response = await fetch(...given);
    reached();
    return response;
  };
  return createClient({ url, token: '', fetch: told });
};
const nothing = (reached: () => void) => () => {
  reached();
  return new Promise<never>(() => {});
};
/** Each is silent from one moment of a call on, and says when it is there. */
const silences: [string, (reached: () => void) => Promise<ReturnType<typeof createClient>>][] = [
  ['the token', async (reached) => createClient({ url: nowhere, token: nothing(reached) })],
  ['a `fetch` that knows no signal', async (reached) => createClient({ url: nowhere, token: '', fetch: nothing(reached) })],
  ['the head of the answer', async (reached) => (await serve(() => reached())).client],
  ['the rest of the answer', (reached) => begun(200, reached)],
  ['the rest of a refusal', (reached) => begun(400, reached)],
];

describe.each(silences)('who waits for %s', (_, start) => {
  test('is let go in time', async () => {
    const client = await start(() => {});
    expect(await whatever(client.get('/', { timeoutMs: 300, patienceMs: 0 }))).toBe('timeout');
  });

  test('is let go by their signal, on which nothing stays', async () => {
    let isThere = false;
    const client = await start(() => (isThere = true));
    const enough = new AbortController();
    const waiting = whatever(client.get('/', { signal: enough.signal }));
    await expect.poll(() => isThere).toBe(true);
    enough.abort('enough');
    expect(await waiting).toBe('enough');
    expect(getEventListeners(enough.signal, 'abort')).toEqual([]);
  });

  test('follows no longer than they want', async () => {
    let isThere = false;
    const client = await start(() => (isThere = true));
    const enough = new AbortController();
    const waiting = whatever(client.events({ signal: enough.signal }).next());
    await expect.poll(() => isThere).toBe(true);
    enough.abort();
    expect(['done', 'unexpected']).toContain(await waiting);
    expect(getEventListeners(enough.signal, 'abort')).toEqual([]);
  });
});

test('a limit that no timer knows is none', async () => {
  const { client } = await serve((_, response) => response.end('{}'));
  expect(await client.get('/', { timeoutMs: Number.POSITIVE_INFINITY })).toEqual({});
});

test('nothing stays on the signal of calls that have ended', async () => {
  const { client } = await serve((_, response) => response.end('{}'));
  const { signal } = new AbortController();
  const added: unknown[] = [];
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = ((...given: Parameters<typeof add>) => {
    added.push(given[0]);
    add(...given);
  }) as typeof signal.addEventListener;
  for (let time = 0; time < 5; time++) await client.get('/', { signal });
  // Only what we put there is taken away: AbortSignal.any would leave a reference behind with each call.
  expect(added).toHaveLength(5);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a connection that breaks in the middle of an answer is an answer that did not come', async () => {
  let calls = 0;
  const { client } = await serve((request, response) => {
    calls += 1;
    if (calls === 3) response.end('{"a":1}');
    else response.writeHead(200, { 'content-length': 100 }).write('{"a":', () => request.destroy());
  });
  expect(await client.get('/')).toEqual({ a: 1 });
  calls = 0;
  await expect(client.post('/', {})).rejects.toMatchObject({ name: 'NatterApiError', code: 'unreachable' });
  expect(calls).toBe(1);
});

test('a peer that takes the connection and answers in no known way', async () => {
  const server = createServer((socket) => void socket.end('SSH-2.0-OpenSSH\r\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const client = createClient({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, token: '' });
  await expect(client.get('/', { patienceMs: 0 })).rejects.toMatchObject({ code: 'unreachable' });
});

test('a run that goes on is asked for again in measured steps, though nobody waits with us', async () => {
  let calls = 0;
  const { client } = await serve((_, response) => {
    calls += 1;
    response.end('{"runId":"r","status":"running"}');
  });
  const enough = new AbortController();
  const began = performance.now();
  const waiting = whatever(client.runs.wait('main', 'r', { signal: enough.signal }));
  await expect.poll(() => calls).toBeGreaterThan(3);
  expect(performance.now() - began).toBeGreaterThan(700);
  enough.abort('enough');
  expect(await waiting).toBe('enough');
});
