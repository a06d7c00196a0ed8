import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createClient, sessionPath } from '../../../services/cli/api-client.ts';

let server: Server;
/** A gateway that answers as told. */
const serve = async (listener: RequestListener) => {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, token: 'secret-token' });
};
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const json = (body: unknown) => JSON.stringify(body);

describe('calls (A1)', () => {
  test('bear the token, and a session key is one segment of the path', async () => {
    const seen: IncomingMessage[] = [];
    const client = await serve((request, response) => {
      seen.push(request);
      response.end('{}');
    });
    await client.get(sessionPath('agent:main:irc:group:#a/b?', '/state'), {
      query: { at: 5, type: ['a', 'b'], none: undefined, deltas: true },
    });
    expect(seen[0]?.headers.authorization).toBe('Bearer secret-token');
    expect(seen[0]?.url).toBe('/v1/sessions/agent%3Amain%3Airc%3Agroup%3A%23a%2Fb%3F/state?at=5&type=a&type=b&deltas=1');
  });

  test('a problem keeps its code, status and detail; 401 says what to do', async () => {
    const client = await serve((request, response) => {
      response
        .writeHead(request.url === '/a' ? 401 : 409)
        .end(json({ code: request.url === '/a' ? 'unauthorized' : 'refused', detail: 'no' }));
    });
    await expect(client.get('/a')).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
      message: expect.stringContaining('NATTER_TOKEN'),
    });
    await expect(client.get('/b')).rejects.toMatchObject({ code: 'refused', status: 409, message: 'no' });
  });

  test('an answer that is no problem is told by its status', async () => {
    const client = await serve((_, response) => response.writeHead(502).end('<html>'));
    await expect(client.get('/')).rejects.toMatchObject({ code: 'unexpected', message: expect.stringContaining('502') });
  });

  test('nobody there: `unreachable`, with what to do', async () => {
    await serve((_, response) => response.end());
    const client = createClient({ url: 'http://127.0.0.1:1', token: '' });
    await expect(client.get('/')).rejects.toMatchObject({ code: 'unreachable', message: expect.stringContaining('natter up') });
  });

  test('a redirect is not followed: the token stays here', async () => {
    const client = await serve((request, response) => {
      if (request.url === '/elsewhere') response.end('{}');
      else response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await expect(client.get('/')).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('patience: "later" is tried again with the same body, "no" is not', async () => {
    let calls = 0;
    const client = await serve((request, response) => {
      calls += 1;
      if (request.url === '/no') response.writeHead(400).end(json({ code: 'invalid', detail: 'no' }));
      else if (calls < 3) response.writeHead(503).end(json({ code: 'unavailable', detail: 'later', retryAfterMs: 5 }));
      else request.pipe(response);
    });
    expect(await client.post('/later', { id: 7 }, { patienceMs: 5_000 })).toEqual({ id: 7 });
    expect(calls).toBe(3);
    await expect(client.post('/no', {}, { patienceMs: 5_000 })).rejects.toMatchObject({ code: 'invalid' });
    expect(calls).toBe(4);
  });

  test('without patience "later" is an error at once', async () => {
    const client = await serve((_, response) => response.writeHead(503).end(json({ code: 'unavailable', detail: 'later' })));
    await expect(client.get('/')).rejects.toMatchObject({ code: 'unavailable', status: 503 });
  });
});

describe('a stream', () => {
  const frame = (id: string, data: string) => `id: ${id}\nevent: x\ndata: ${data}\n\n`;

  test('goes on after the last event it had, however often it breaks', async () => {
    const resumed: (string | undefined)[] = [];
    const client = await serve((request, response) => {
      resumed.push(request.headers['last-event-id'] as string | undefined);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (resumed.length === 1) response.write('id: 4\n: after 4\n\n', () => request.destroy());
      else if (resumed.length === 2)
        response.write(frame('5.0', 'five') + frame('5.1', 'fünf').slice(0, 12), () => request.destroy());
      else response.write(frame('5.1', 'fünf'));
    });
    const stopping = new AbortController();
    const got: string[] = [];
    for await (const { data } of client.stream('/v1/events', { signal: stopping.signal })) {
      got.push(data);
      if (got.length === 2) stopping.abort();
    }
    expect(got).toEqual(['five', 'fünf']);
    expect(resumed).toEqual([undefined, '4', '5.0']);
  });

  test('a refusal that time does not mend ends it', async () => {
    const client = await serve((_, response) =>
      response.writeHead(400).end(json({ code: 'invalid', detail: 'this cursor is from another log' })),
    );
    const stream = client.stream('/v1/events', { signal: new AbortController().signal });
    await expect(stream.next()).rejects.toMatchObject({ code: 'invalid' });
  });
});
