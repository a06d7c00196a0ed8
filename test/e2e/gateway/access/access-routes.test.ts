import { beforeAll, describe, expect, test } from 'vitest';
import { type RegisteredRoute, registeredRoutes } from '../registered-routes.ts';
import { callerOf } from '../setup.ts';
import { bytesOf, type GatewayRig, type Name, openGateway } from './access-rig.ts';
import { open as openRoutes } from './access-table.ts';

/** Every route there is, as the server itself lists them: what holds for each without knowing what it does (A8/89, I12). */

const open = Object.keys(openRoutes).map((route) => route.split(' ')[1] ?? '');
/**
 * These say themselves what they change, call by call: a role that changes nothing may still read by them, ask for tickets, open the page, or
 * note how far it has read.
 */
const ownWord = [
  ...['/v1/rpc', '/mcp', '/v1/tickets', '/v1/page/codes', '/v1/page/login', '/v1/page/logout'],
  '/v1/sessions/:key/read',
];

let routes: readonly RegisteredRoute[];
beforeAll(async () => {
  routes = await registeredRoutes();
});

/** What is in a body is nobody's business here: that there is one lets the call come as far as it can. */
const bodyFor = (method: string) => (method === 'GET' || method === 'DELETE' ? {} : { body: {} });

const call = async (gateway: GatewayRig, name: Name, { method, url }: RegisteredRoute, key: string) => {
  const path = url.replace(':key', encodeURIComponent(key)).replaceAll(/:\w+/g, 'nothing').replace('*', 'nothing');
  return gateway.as[name](method, path, bodyFor(method));
};

describe('every route', () => {
  test('is listed', () => {
    const all = routes.map(({ method, url }) => `${method} ${url}`);
    expect(all).toEqual(
      expect.arrayContaining(['GET /v1/sessions/:key', 'POST /v1/sessions/:key/messages', 'DELETE /v1/tokens/:id']),
    );
    expect(all.length).toBeGreaterThan(25);
  });

  test('wants a token, and a right one', async () => {
    const wrong: object[] = [];
    for (const bearer of [null, 'wrong', `aaaaaaaaaaaa.natter_${'a'.repeat(43)}`]) {
      // One gateway would have had enough wrong tokens from this address.
      const gateway = await openGateway();
      for (const { method, url } of routes) {
        if (open.includes(url)) continue;
        // The address of WebSockets takes its token in the first frame too.
        if (url === '/v1/ws' && bearer === null) continue;
        const { status } = await callerOf(gateway.url, bearer)(method, url.replaceAll(/:\w+/g, 'x'), bodyFor(method));
        if (status !== 401) wrong.push({ method, url, bearer, status });
      }
    }
    expect(wrong).toEqual([]);
  });

  test('that writes refuses a role that changes nothing, with one code, whatever is asked', async () => {
    const gateway = await openGateway();
    const wrong: object[] = [];
    for (const route of routes) {
      if (route.method === 'GET' || open.includes(route.url) || ownWord.includes(route.url)) continue;
      const names = route.url.startsWith('/v1/approvals') ? (['reader'] as const) : (['reader', 'approver'] as const);
      for (const name of names) {
        const { status, body } = await call(gateway, name, route, 'agent:main:none');
        // Some interfaces have an envelope of their own.
        const { code = body.error?.code } = body;
        if (status !== 403 || code !== 'forbidden') wrong.push({ ...route, name, status, body });
      }
    }
    expect(wrong).toEqual([]);
  });

  test('about a session tells strangers of one what it tells of none', async () => {
    const gateway = await openGateway();
    await gateway.said('agent:main:irc:group:there', ['irc:1']);
    const wrong: object[] = [];
    for (const route of routes.filter(({ url }) => url.includes(':key'))) {
      for (const name of ['eve', 'discord', 'approverAtTelegram'] as const) {
        const there = await call(gateway, name, route, 'agent:main:irc:group:there');
        const missing = await call(gateway, name, route, 'agent:main:irc:group:gone!');
        const same = bytesOf(there) === bytesOf(missing).replaceAll('gone!', 'there');
        if (there.status < 400 || !same) wrong.push({ ...route, name, there: there.text, missing: missing.text });
      }
    }
    expect(wrong).toEqual([]);
  });
});
