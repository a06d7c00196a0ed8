import { describe, expect, test, vi } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { open } from '../access/access-table.ts';
import { registeredRoutes } from '../registered-routes.ts';
import { afterwards, callerOf, openBroker, openGateway, pathOf, startWorld, token } from '../setup.ts';
import { rawClient } from './raw-client.ts';

/** Issue 5: HTTP itself, as clients that go by its rules, or nearly, speak it (RFC 9110, RFC 9112). */

const bearer = `host: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n`;
const startRaw = async () => {
  const world = await startWorld();
  /** All that is answered to these bytes until `isDone`. */
  const raw = async (bytes: string, isDone: (heard: string) => boolean): Promise<string> => {
    const client = rawClient(world.gateway.url, bytes);
    afterwards(async () => void client.socket.destroy());
    await vi.waitFor(() => expect(isDone(client.heard())).toBe(true));
    return client.heard();
  };
  return { ...world, raw };
};

describe('HEAD', () => {
  test('is answered as GET, without a body', async () => {
    const { call, gateway } = await startWorld();
    for (const path of ['/livez', '/readyz', '/v1/sessions', '/v1/openapi.json', pathOf('agent:main:none')]) {
      const [get, head] = [await call('GET', path), await call('HEAD', path)];
      expect([path, head.status, head.text]).toEqual([path, get.status, '']);
      expect(head.headers['content-type']).toBe(get.headers['content-type']);
    }
    const stranger = callerOf(gateway.url, null);
    expect((await stranger('HEAD', '/livez')).status).toBe(200);
    expect((await stranger('HEAD', '/v1/sessions')).status).toBe(401);
  });

  test('breaks no route, and wants a token where GET does', async () => {
    const { call, gateway } = await startWorld();
    const stranger = callerOf(gateway.url, null);
    const routes = (await registeredRoutes()).filter(({ method }) => method === 'GET');
    for (const { url } of routes) {
      const path = url.replace(':key', 'agent%3Amain%3Amain').replaceAll(/:\w+/g, 'x').replace('*', '/x');
      const isOpen = ['/livez', '/readyz', '/'].includes(url);
      const expected = isOpen ? 200 : Object.hasOwn(open, `GET ${url}`) ? 404 : 401;
      expect([path, (await stranger('HEAD', path)).status]).toEqual([path, expected]);
      expect((await call('HEAD', path)).status, path).toBeLessThan(500);
    }
  });

  test('opens no stream', async () => {
    const { call } = await startWorld();
    const headers = { accept: 'text/event-stream' };
    for (const path of ['/v1/events', pathOf('agent:main:main', '/events'), '/v1/ui/chat/main/stream']) {
      expect((await call('HEAD', path, { headers })).headers['content-type']).toMatch(/json/);
    }
    expect((await call('GET', '/metrics')).text).toContain('natter_event_streams{service="gateway"} 0');
  });
});

test('a request without a host gets a problem, but not one of the old HTTP, which has none', async () => {
  const { raw } = await startRaw();
  const closed = (heard: string) => heard.endsWith('}');
  const refused = await raw('GET /livez HTTP/1.1\r\n\r\n', closed);
  expect(refused).toMatch(/^HTTP\/1\.1 400 /);
  expect(refused).toContain('"field":"host"');
  expect(await raw('GET /livez HTTP/1.0\r\n\r\n', closed)).toMatch(/^HTTP\/1\.1 200 /);
});

test('a route without a token answers to the names of the gateway alone, and to addresses, as probes use', async () => {
  const memory = openBroker();
  const given = { port: 0, hostNames: ['natter.internal'], allowedOrigins: ['https://chat.example.org'] };
  const { url } = await openGateway(memory.portsFor('gateway'), [], configSchema.parse({ gateway: given }));
  const [stranger, owner] = [callerOf(url, null), callerOf(url)];
  const answerTo = (host: string, path: string) => stranger('GET', path, { headers: { host } });
  for (const path of ['/livez', '/readyz']) {
    for (const host of ['evil.example', 'evil.example:4600', 'localhost.evil.example', '127.0.0.1.evil.example', 'a b', '::1']) {
      const { status, body } = await answerTo(host, path);
      expect({ host, status, body }).toMatchObject({ host, status: 400, body: { code: 'invalid', field: 'host' } });
    }
    const names = ['localhost:4600', 'Natter.Internal:80', 'chat.example.org', '10.1.2.3:4600', '[::1]:4600', '[fd00::1]'];
    for (const host of names) expect([host, (await answerTo(host, path)).status]).not.toEqual([host, 400]);
  }
  // Behind a proxy the gateway may have any name: whoever has a token is no page.
  expect((await owner('GET', '/v1/sessions', { headers: { host: 'evil.example' } })).status).not.toBe(400);
});

test('what a client expects besides "100-continue" is not waited for', async () => {
  const { raw } = await startRaw();
  const answer = await raw('GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: the-best\r\n\r\n', (heard) => heard.endsWith('}'));
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test('garbage behind a message is refused after that is answered: the refusal is not for the message', async () => {
  const { raw } = await startRaw();
  const body = JSON.stringify({ text: 'hello' });
  const head = `POST ${pathOf('agent:main:main', '/messages?wait=5')} HTTP/1.1\r\n${bearer}`;
  const message = `${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const heard = await raw(`${message}\x00 garbage\r\n\r\n`, (heard) => heard.includes('"code":"invalid"'));
  expect([...heard.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '400']);
  expect(heard).toContain('"reply":"you said: hello"');
});
