import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createClient } from '../../../shared/client/main.ts';
import { serve } from './server.ts';

/** Others stand between us and the gateway, and wrong addresses have somebody behind them too. */

describe('an error that is none of the gateway', () => {
  test.each([
    ['{"code":14,"message":"upstream connect error","details":[]}', 'upstream connect error'],
    ['{"title":["no"],"detail":{"why":"no"},"errors":{"a":["is wrong"]},"requestId":7}', 'the gateway answered 400 Bad Request'],
    ['{"problems":"many","field":5,"retryAfterMs":"soon"}', 'the gateway answered 400 Bad Request'],
    ['null', 'the gateway answered 400 Bad Request'],
    ['["no"]', 'the gateway answered 400 Bad Request'],
    ['<html><title>Bad Request', 'the gateway answered 400 Bad Request'],
    ['', 'the gateway answered 400 Bad Request'],
  ])('%j has the shape that the types promise', async (body, message) => {
    const { client } = await serve((_, response) => response.writeHead(400).end(body));
    const error = await client.get('/').catch((problem: unknown) => problem);
    expect(error).toMatchObject({ name: 'NatterApiError', status: 400, code: 'unexpected', message, errors: [] });
    expect(error).toMatchObject({ requestId: undefined, retryAfterMs: undefined });
  });

  test.each([500, 502, 503, 504, 520, 522])('%i is of a proxy whose gateway is away: asked again', async (status) => {
    let calls = 0;
    const { client } = await serve((_, response) => {
      calls += 1;
      if (calls === 1) response.writeHead(status).end('<html>');
      else response.end('{}');
    });
    expect(await client.get('/')).toEqual({});
  });

  test('500 `internal` is the gateway’s own, and is not', async () => {
    let calls = 0;
    const { client } = await serve((_, response) => {
      calls += 1;
      response.writeHead(500).end('{"code":"internal","detail":""}');
    });
    await expect(client.get('/')).rejects.toMatchObject({ code: 'internal' });
    expect(calls).toBe(1);
  });
});

describe('Retry-After (RFC 9110, 10.2.3)', () => {
  const refusing = async (retryAfter: string, body = '') => {
    let calls = 0;
    const { client } = await serve((_, response) => {
      calls += 1;
      response.writeHead(503, { 'retry-after': retryAfter }).end(body);
    });
    return { client, calls: () => calls };
  };

  test('may be a date', async () => {
    const { client, calls } = await refusing(new Date(Date.now() + 60_000).toUTCString());
    const error = (await client.get('/').catch((problem: unknown) => problem)) as { retryAfterMs: number };
    expect(error.retryAfterMs).toBeGreaterThan(50_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(calls()).toBe(1);
  });

  test.each([
    ['Infinity', ''],
    ['soon', ''],
    ['-5', '{"retryAfterMs":-1}'],
    ['Thu, 01 Jan 1970 00:00:00 GMT', '{"retryAfterMs":"5"}'],
    ['99999999999', ''],
    ['', '{"retryAfterMs":1e300}'],
  ])('%j with %j makes nobody hurry', async (retryAfter, body) => {
    const { client, calls } = await refusing(retryAfter, body);
    for await (const _ of client.events({ signal: AbortSignal.timeout(1_000) })) expect.unreachable();
    expect(calls()).toBeLessThan(5);
  });
});

describe('an address', () => {
  test('that redirects is told at once, and the token goes nowhere else', async () => {
    const seen: unknown[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await vi.waitFor(() => expect(other.listening).toBe(true));
    const location = `http://127.0.0.1:${(other.address() as { port: number }).port}/`;
    let calls = 0;
    const { client } = await serve((_, response) => {
      calls += 1;
      response.writeHead(308, { location }).end();
    });
    const problem = { code: 'unexpected', status: 308, message: expect.stringContaining(location) };
    await expect(client.get('/')).rejects.toMatchObject(problem);
    await expect(client.events().next()).rejects.toMatchObject(problem);
    expect(calls).toBe(2);
    expect(seen).toEqual([]);
  });

  test('that redirects is told in a browser too, which says no more than that', async () => {
    const opaque = { ok: false, status: 0, statusText: '', type: 'opaqueredirect', headers: new Headers(), body: null };
    const client = createClient({ url: 'http://127.0.0.1:1', token: '', fetch: async () => opaque as unknown as Response });
    const problem = { code: 'unexpected', status: 0, message: expect.stringContaining('leads to another address') };
    await expect(client.get('/')).rejects.toMatchObject(problem);
    await expect(client.events().next()).rejects.toMatchObject(problem);
  });

  test.each(['localhost:4600', 'gateway', 'ws://localhost:4600', 'http://user:word@localhost:4600'])(
    '%s that is none is told at once',
    async (url) => {
      const client = createClient({ url, token: 'x' });
      await expect(client.get('/')).rejects.toThrow(TypeError);
      await expect(client.events().next()).rejects.toThrow(TypeError);
    },
  );

  test('a token that no header can have is told at once', async () => {
    const refused: [string | (() => string), object][] = [
      ['secret…', { code: 'invalid' }],
      [() => undefined as unknown as string, { name: 'TypeError' }],
    ];
    for (const [token, expected] of refused) {
      const client = createClient({ url: 'http://127.0.0.1:1', token });
      await expect(client.get('/')).rejects.toMatchObject(expected);
      await expect(client.events().next()).rejects.toMatchObject(expected);
    }
  });
});

describe('what a caller adds', () => {
  test('an Idempotency-Key makes a call repeatable however its name is written', async () => {
    let calls = 0;
    const { client } = await serve((request, response) => {
      calls += 1;
      if (calls === 1) response.writeHead(503).end('{}');
      else response.end(JSON.stringify([request.headers['idempotency-key'], request.headers.accept]));
    });
    const headers = { 'Idempotency-Key': 'once', Accept: 'application/json' };
    expect(await client.post('/v1/memory', {}, { headers })).toEqual(['once', 'application/json']);
  });

  test('a query is added to one that the path has', async () => {
    const { client } = await serve((request, response) => response.end(JSON.stringify(request.url)));
    expect(await client.get('/v1/events?limit=5', { query: { after: 0 } })).toBe('/v1/events?limit=5&after=0');
    expect(await client.get('/v1/events?limit=5')).toBe('/v1/events?limit=5');
  });

  test('no limit of their own leaves the one that a wait needs', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let end = 'none';
    const client = createClient({ url: 'http://127.0.0.1:1', token: '', patienceMs: 0, fetch: () => new Promise(() => {}) });
    const given = { wait: 60, timeoutMs: undefined };
    void client.sessions.post('main', 'hello', given).catch(({ code }: { code: string }) => (end = code));
    await vi.advanceTimersByTimeAsync(69_000);
    expect(end).toBe('none');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(end).toBe('timeout');
  });
});
