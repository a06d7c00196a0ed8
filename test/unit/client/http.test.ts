import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createClient, sessionPath } from '../../../shared/client/main.ts';
import { serve } from './server.ts';

const json = (body: unknown) => JSON.stringify(body);

describe('calls (A1)', () => {
  test('bear the token, asked for each time, and a session key is one segment of the path', async () => {
    const seen: IncomingMessage[] = [];
    const { url } = await serve((request, response) => {
      seen.push(request);
      response.end('{}');
    });
    let tokens = 0;
    const client = createClient({ url: `${url}/`, token: async () => `secret-${++tokens}` });
    const query = { at: 5, type: ['a', 'b'], none: undefined, deltas: true };
    await client.get(sessionPath('agent:main:irc:group:#a/b?', '/state'), { query });
    await client.get('/again');
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret-1', 'Bearer secret-2']);
    expect(seen[0]?.url).toBe('/v1/sessions/agent%3Amain%3Airc%3Agroup%3A%23a%2Fb%3F/state?at=5&type=a&type=b&deltas=1');
  });

  test.each(['ab\ncd', 'tök…n'])('what can be no token is refused, and not shown: %j', async (token) => {
    const client = createClient({ url: 'http://127.0.0.1:1', token, patienceMs: 0 });
    await expect(client.get('/')).rejects.toMatchObject({
      code: 'invalid',
      message: 'this is no token: it has characters that none has',
    });
  });

  test('a problem keeps its code, status, title, detail and what is wrong', async () => {
    const problem = { code: 'invalid', title: 'Not valid', detail: 'text: is empty', field: 'text', requestId: 'r-1' };
    const { client } = await serve((_, response) => response.writeHead(400).end(json(problem)));
    await expect(client.get('/')).rejects.toMatchObject({
      ...{ name: 'NatterApiError', status: 400, code: 'invalid', title: 'Not valid', detail: 'text: is empty' },
      ...{ message: 'text: is empty', errors: [{ field: 'text', detail: 'text: is empty' }], requestId: 'r-1' },
    });
  });

  test.each([
    ['that is no problem is told by its status', 502, '<html>', 'the gateway answered 502 Bad Gateway'],
    [
      'that is good and no JSON is none of ours',
      200,
      '<html>',
      'the answer is not JSON; is this the address of a Natter gateway?',
    ],
  ])('an answer %s', async (_, status, body, message) => {
    const { client } = await serve((_, response) => response.writeHead(status).end(body));
    await expect(client.post('/', {})).rejects.toMatchObject({ code: 'unexpected', status, message });
  });

  test('nobody there: `unreachable`, with the address and the reason', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1', token: '', patienceMs: 0 });
    await expect(client.get('/')).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/^no answer from http:\/\/127\.0\.0\.1:1 \(.+\)$/),
    });
  });

  test('nothing in time: `timeout`; no more wanted: the reason of the signal', async () => {
    const { client } = await serve(() => {});
    await expect(client.get('/', { timeoutMs: 20, patienceMs: 0 })).rejects.toMatchObject({ code: 'timeout', status: 0 });
    await expect(client.get('/', { signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
    await expect(client.get('/', { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('"later" (429, 503; 502 and 504 of a proxy)', () => {
  const later = async (status: number) => {
    const keys: (string | undefined)[] = [];
    const { client } = await serve((request, response) => {
      keys.push(request.headers['idempotency-key'] as string | undefined);
      const said = status === 502 || status === 504 ? '<html>' : json({ code: 'unavailable', retryAfterMs: 5 });
      if (keys.length < 3) response.writeHead(status, { 'retry-after': '0' }).end(said);
      else request.pipe(response);
    });
    return { client, keys };
  };

  test.each([429, 502, 503, 504])('%i: what has an Idempotency-Key is asked again with the same body and key', async (status) => {
    const { client, keys } = await later(status);
    expect(await client.sessions.post('main', 'hello')).toEqual({ text: 'hello' });
    expect(keys).toHaveLength(3);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(keys).size).toBe(1);
  });

  test('what has none is asked once, unless it says that it may be repeated', async () => {
    const { client, keys } = await later(503);
    await expect(client.post('/', { id: 7 })).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    expect(keys).toHaveLength(1);
    expect(await client.post('/', { id: 7 }, { repeatable: true })).toEqual({ id: 7 });
  });

  test('it is not waited for longer than the caller has patience, nor after the signal', async () => {
    const { client, keys } = await later(503);
    await expect(client.get('/', { patienceMs: 0 })).rejects.toMatchObject({ code: 'unavailable' });
    expect(keys).toHaveLength(1);
    const enough = new AbortController();
    const waiting = client.get('/', { signal: enough.signal });
    await expect.poll(() => keys.length).toBe(2);
    enough.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    expect(keys).toHaveLength(2);
  });

  test('a wait that is named by the gateway is kept', async () => {
    let calls = 0;
    const { client } = await serve((_, response) => {
      calls += 1;
      response.writeHead(429, { 'retry-after': '60' }).end('{}');
    });
    await expect(client.get('/', { patienceMs: 5_000 })).rejects.toMatchObject({ status: 429, retryAfterMs: 60_000 });
    expect(calls).toBe(1);
  });

  test('a token that cannot be renewed while there is no network is asked for again; one that is refused is not', async () => {
    const { url } = await serve((_, response) => response.end('{}'));
    let asked = 0;
    const token = () => Promise.reject(++asked === 1 ? new TypeError('fetch failed') : new Error('not logged in'));
    await expect(createClient({ url, token }).get('/')).rejects.toThrow('not logged in');
    expect(asked).toBe(2);
  });

  test('"no" is not asked again', async () => {
    let calls = 0;
    const { client } = await serve((_, response) => {
      calls += 1;
      response.writeHead(409).end(json({ code: 'refused', detail: 'no' }));
    });
    await expect(client.sessions.stop('main')).rejects.toMatchObject({ code: 'refused', status: 409, message: 'no' });
    expect(calls).toBe(1);
  });
});

test('lists are read page by page, as they are asked for', async () => {
  const asked: string[] = [];
  const { client } = await serve((request, response) => {
    asked.push(request.url ?? '');
    const isFirst = asked.length === 1;
    response.end(
      json({ sessions: isFirst ? [{ key: 'a' }, { key: 'b' }] : [{ key: 'c' }], nextCursor: isFirst ? 'next' : null }),
    );
  });
  const keys: string[] = [];
  for await (const { key } of client.sessions.list({ status: 'all' })) {
    keys.push(key);
    expect(asked).toHaveLength(key === 'c' ? 2 : 1);
  }
  expect(keys).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual(['/v1/sessions?limit=1000&status=all', '/v1/sessions?limit=1000&cursor=next&status=all']);
});
