import { beforeAll, describe, expect, test } from 'vitest';
import { type GatewayRig, openGateway } from '../access/access-rig.ts';
import { type RegisteredRoute, registeredRoutes } from '../registered-routes.ts';
import { afterwards, type CallOptions, callerOf, token } from '../setup.ts';
import { rawClient } from './raw-client.ts';

/** Issue 5, bad input: every route the server has, with bodies and paths that are wrong. */

let routes: readonly RegisteredRoute[];
beforeAll(async () => {
  routes = await registeredRoutes();
});
const pathOf = (url: string): string => url.replace(':key', 'agent%3Amain%3Amain').replaceAll(/:\w+/g, 'x').replace('*', '/x');
/** Nothing that a caller meant no good by is in the log, nor waits for a host. */
const nothingStored = async ({ ports }: GatewayRig): Promise<void> => {
  expect([(await ports.events.info()).lastSeq, await ports.commands.lag(), await ports.inbound.lag()]).toEqual([0, 0, 0]);
};

const bodies: Readonly<Record<string, CallOptions>> = {
  'malformed JSON': { bytes: '{"text":' },
  'bad UTF-8': { bytes: Buffer.from('7b2274657874223a22ff227d', 'hex') },
  'a list': { bytes: '[]' },
  'a string': { bytes: '"text"' },
  'a number': { bytes: '5' },
  null: { bytes: 'null' },
  'an extra field': { body: { zzz: 1 } },
  'fields of wrong types': {
    body: { text: 1, id: {}, messages: 'x', key: [], model: 5, input: 7, threadId: 1, method: 1, path: 1 },
  },
  __proto__: { bytes: '{"__proto__":{"role":"owner"}}' },
  'deep nesting': { bytes: `{"a":${'['.repeat(50_000)}` },
  'a huge body': { body: { text: 'x'.repeat(300_000) } },
  'plain text': { bytes: 'hello', headers: { 'content-type': 'text/plain' } },
};

describe('every route with a body', () => {
  test.each(Object.entries(bodies))('refuses %s: clearly, and nothing is stored', async (what, options) => {
    const gateway = await openGateway();
    const wrong: object[] = [];
    const [refused, headers] = [[400, 404, 406, 413, 415], { accept: 'application/json, text/event-stream', ...options.headers }];
    for (const { method, url } of routes.filter(({ method }) => ['POST', 'PATCH', 'PUT'].includes(method))) {
      const { status, text, body } = await gateway.as.owner(method, pathOf(url), { ...options, headers });
      const isClear = body !== null && !/internal|\.ts:|node_modules/.test(text);
      if (!refused.includes(status) || !isClear) wrong.push({ what, method, url, status, text });
    }
    expect(wrong).toEqual([]);
    await nothingStored(gateway);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

/** Ways to write an address so that what is checked and what is served might be two. */
const tricksOf = (path: string): string[] => {
  const [, first = '', rest = ''] = /^(\/[^/]*)(.*)$/.exec(path) ?? [];
  return [
    ...[`/livez/..${path}`, `/livez/%2e%2e${path}`, `/livez/.%2E${path}`, `/livez%2f..${path}`, `/livez/%252e%252e${path}`],
    ...[`/livez%00${path}`, `/livez;${path}`, `/livez\\..${path}`, `/livez?${path}`, `/livez#${path}`, `/livez//..${path}`],
    ...[`${path}%00`, `${path}%2500`, `${path}/%2e`, `${path}/..`, `${path};/livez`, `${path}\\`, `${path}%ff`, `${path}%`],
    ...[`/${path}`, `/.${path}`, `${first}/%2e${rest}`, `${first}/.${rest}`, `${first}/%2e%2e${path}`, path.replace('/', '/%2f')],
    ...[path.toUpperCase(), path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`), `http://evil${path}`],
  ];
};

describe('no way to write an address', () => {
  test('serves without a token what wants one, or breaks anything', async () => {
    const gateway = await openGateway();
    const call = callerOf(gateway.url, null);
    const wrong: object[] = [];
    for (const { method, url } of routes) {
      if (['/livez', '/readyz', '/', '/assets/:name', '/v1/page/login'].includes(url)) continue;
      for (const path of tricksOf(pathOf(url))) {
        const isOpen = /^\/livez[?#]/.test(path) && method === 'GET';
        const { status } = await call(method, path);
        if (isOpen ? status !== 200 : ![400, 401, 404].includes(status)) wrong.push({ method, path, status });
      }
    }
    expect(wrong).toEqual([]);
    await nothingStored(gateway);
  }, 90_000);

  test('gives a participant what is not theirs', async () => {
    const gateway = await openGateway();
    await gateway.said('agent:main:telegram:group:secret', ['telegram:1'], 'm');
    const wrong: object[] = [];
    for (const url of ['/v1/audit', '/v1/tokens', '/v1/sessions/agent:main:telegram:group:secret/messages', '/v1/events']) {
      for (const path of [url, ...tricksOf(url)]) {
        const { status, text } = await gateway.as.eve('GET', path);
        if (status >= 500 || /secret"|words of|"kind":|"tokens":/.test(text)) wrong.push({ path, status, text });
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each(['/v1/audit\0', '/v1/au\0dit', '/livez\0/../v1/audit', '/v1/\u{7f}audit', '/v1/audit\t', '/v1/audit x'])(
    'with raw bytes that no address has: %j',
    async (path) => {
      const gateway = await openGateway();
      const client = rawClient(
        gateway.url,
        `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}x\r\nconnection: close\r\n\r\n`,
      );
      afterwards(async () => void client.socket.destroy());
      await client.closed;
      expect(client.heard()).toMatch(/^HTTP\/1\.1 40[014] /);
    },
  );
});
