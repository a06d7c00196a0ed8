import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { startGateway } from '../../../../services/gateway/main.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { fixed } from '../../../../shared/runtime/config/reload.ts';
import { RateLimit } from '../../../../shared/runtime/rate-limit.ts';
import { startReplicas } from '../access/token-rig.ts';
import { afterwards, type Call, callerOf, openBroker, pathOf, ready, token } from '../setup.ts';

/** How often, from where and for whose pages the gateway may be called (I11, I12). */

const key = 'agent:main:main';

describe('rates', () => {
  test('I11: a token that calls too often is told when to come back; the others are not slowed down', async () => {
    const { make, as, admin } = await startReplicas({ requestsPerMinute: 30 });
    const { token: busy } = await make({ role: 'owner' });
    const answers = [];
    for (let call = 0; call < 33; call++) answers.push(await as(busy)('GET', '/v1/sessions'));
    expect(answers.slice(0, 30).map(({ status }) => status)).toEqual(Array(30).fill(200));
    const last = answers.at(-1);
    expect(last).toMatchObject({ status: 429, body: { code: 'overloaded', retryAfterMs: expect.any(Number) } });
    expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await admin('GET', '/v1/sessions')).status).toBe(200);
  });

  test('I12: who guesses has to wait, loopback too; a valid token is let in, whoever else guesses at its address', async () => {
    const { as, admin, make } = await startReplicas({ failedAuthenticationsPerMinute: 10 });
    const { token: fresh } = await make({ role: 'owner' });
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess++) statuses.push((await as(`guess-${guess}`)('GET', '/v1/sessions')).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await admin('GET', '/v1/sessions')).status).toBe(200);
    // Never seen here before.
    expect((await as(fresh)('GET', '/v1/sessions')).status).toBe(200);
    // It buys no further guesses.
    expect((await as('guess-12')('GET', '/v1/sessions')).status).toBe(429);
    // A call without a token guesses nothing.
    expect((await as(null)('GET', '/v1/sessions')).status).toBe(401);
  });

  test('I11: a channel starts so many sessions an hour; those it has go on, and the owner starts any number', async () => {
    const { make, as, admin } = await startReplicas({ newSessionsPerHour: 3 });
    const { token: channel } = await make({ role: 'channel', namespace: 'irc' });
    let messages = 0;
    const say = (call: Call, group: number) => {
      messages += 1;
      const envelope = {
        id: `m${messages}`,
        channel: 'irc',
        conversation: { id: `#${group}`, kind: 'group' },
        sender: { id: 'ann' },
      };
      return call('POST', '/v1/inbound', { body: { ...envelope, text: 'hi' } });
    };
    const statuses: number[] = [];
    for (const group of [1, 2, 2, 3, 4, 5]) statuses.push((await say(as(channel), group)).status);
    expect(statuses).toEqual([202, 202, 202, 202, 429, 429]);
    const refused = await say(as(channel), 6);
    expect(refused.body).toMatchObject({ code: 'overloaded', detail: expect.stringContaining('more than 3 an hour') });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1_000);
    expect((await say(as(channel), 1)).status).toBe(202);
    for (const group of [7, 8, 9, 10]) expect((await say(admin, group)).status).toBe(202);
  });

  test('I11: a participant too, whatever address they write to', async () => {
    const session = { dmScope: 'per-account-channel-peer' };
    const { make, as } = await startReplicas({ newSessionsPerHour: 2 }, systemClock, session);
    const { token: ann } = await make({ role: 'participant', principal: 'irc:ann' });
    const statuses: number[] = [];
    for (const account of ['a', 'b', 'c']) {
      const path = pathOf(`agent:main:irc:${account}:dm:ann`, '/messages');
      statuses.push((await as(ann)('POST', path, { body: { text: 'hi' } })).status);
    }
    expect(statuses).toEqual([202, 202, 429]);
  });

  test('what was used comes back with time, and no more than there was', () => {
    let now = 0;
    const limit = new RateLimit({ ...systemClock, monotonic: () => now }, () => 60, 'calls');
    const taken = (): number => {
      for (let count = 0; ; count++) {
        try {
          limit.take('one');
        } catch {
          return count;
        }
      }
    };
    expect(taken()).toBe(60);
    now += 2_000;
    expect(taken()).toBe(2);
    now += 999;
    expect(() => limit.take('one')).toThrowError(
      expect.objectContaining({ code: 'overloaded', retryAfterMs: expect.toSatisfy((ms: number) => ms >= 1 && ms <= 2) }),
    );
    now += 3_600_000;
    expect(taken()).toBe(60);
    limit.take('another');
  });

  test('I11: names are forgotten, the oldest first', () => {
    const limit = new RateLimit({ ...systemClock, monotonic: () => 0 }, () => 1, 'calls');
    limit.take('first');
    for (let name = 0; name < limits.rateNames; name++) limit.take(`${name}`);
    expect(() => limit.take(`${limits.rateNames - 1}`)).toThrowError();
    limit.take('first');
  });
});

describe('proxies', () => {
  const guessing = async (trustedProxies: readonly string[]) => {
    const { urls } = await startReplicas({ failedAuthenticationsPerMinute: 3, trustedProxies });
    const statuses: number[] = [];
    for (let guess = 0; guess < 6; guess++) {
      const headers = { 'x-forwarded-for': `192.0.2.${guess}` };
      statuses.push((await callerOf(urls[0], 'wrong')('GET', '/v1/sessions', { headers })).status);
    }
    return statuses;
  };
  test('nobody is believed who says for whom they call', async () => {
    expect(await guessing([])).toEqual([401, 401, 401, 429, 429, 429]);
    expect(await guessing(['10.0.0.0/8'])).toEqual([401, 401, 401, 429, 429, 429]);
  });
  test('but a proxy that is named', async () => {
    expect(await guessing(['127.0.0.1'])).toEqual(Array(6).fill(401));
  });
});

describe('origins', () => {
  const evil = 'https://evil.example';
  const page = 'https://chat.example.org';

  test('a page elsewhere writes nothing and opens no stream, whatever it calls the gateway', async () => {
    const { admin, urls } = await startReplicas();
    const { port } = new URL(urls[0]);
    const origins = [
      evil,
      'null',
      `http://evil.example:${port}`,
      `https://127.0.0.1:${port}`,
      'http://127.0.0.1',
      'http://localhost:1',
    ];
    for (const origin of origins) {
      const headers = { origin, host: origin.replace(/^\w+:\/\//, '') };
      const write = await admin('POST', pathOf(key, '/messages'), { body: { text: 'hi' }, headers });
      const stream = await admin('GET', '/v1/events', { headers: { ...headers, accept: 'text/event-stream' } });
      const refused = { status: 403, code: 'forbidden', field: 'origin' };
      expect({ origin, write: write.body, stream: stream.body }).toMatchObject({ origin, write: refused, stream: refused });
      const read = await admin('GET', '/v1/sessions', { headers });
      expect([read.status, read.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    }
  });

  test('a page elsewhere does not hide its origin either: browsers send none where a page is not to read the answer', async () => {
    const { admin } = await startReplicas();
    const stream = (site: string) =>
      admin('GET', '/v1/events?ticket=guess', { headers: { accept: 'text/event-stream', 'sec-fetch-site': site } });
    for (const site of ['cross-site', 'same-site'])
      expect((await stream(site)).body).toMatchObject({ status: 403, field: 'origin' });
    // Its own pages, and whoever types an address: refused for what they ask alone.
    for (const site of ['same-origin', 'none']) expect((await stream(site)).body).toMatchObject({ status: 400, field: 'ticket' });
    expect((await admin('GET', '/v1/sessions', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(200);
  });

  test("the gateway's own addresses are no page elsewhere", async () => {
    const { admin, urls } = await startReplicas();
    const { port } = new URL(urls[0]);
    for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`])
      expect((await admin('POST', pathOf(key, '/messages'), { body: { text: 'hi' }, headers: { origin } })).status).toBe(202);
  });

  test('a page that is allowed may, with a token, and its browser is told so', async () => {
    const { admin, as } = await startReplicas({ allowedOrigins: [page] });
    const headers = { origin: page };
    const answer = await admin('POST', pathOf(key, '/messages'), { body: { text: 'hi' }, headers });
    expect([answer.status, answer.headers['access-control-allow-origin'], answer.headers.vary]).toEqual([202, page, 'origin']);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    const wrong = await as('wrong')('POST', pathOf(key, '/messages'), { body: { text: 'hi' }, headers });
    expect([wrong.status, wrong.headers['access-control-allow-origin']]).toEqual([401, page]);
    expect((await admin('POST', pathOf(key, '/messages'), { body: { text: 'hi' }, headers: { origin: evil } })).status).toBe(403);
  });

  test('a preflight is answered for a page that is allowed, and for nobody else', async () => {
    const { as } = await startReplicas({ allowedOrigins: [page] });
    const ask = (origin: string, more: object = {}) =>
      as(null)('OPTIONS', '/v1/sessions', { headers: { origin, 'access-control-request-method': 'POST', ...more } });
    const { status, headers } = await ask(page);
    expect([status, headers['access-control-allow-origin']]).toEqual([204, page]);
    expect(headers['access-control-allow-headers']).toContain('authorization');
    // The official client's own headers, and ours.
    const wanted = 'authorization,x-natter-session,prefer,x-stainless-lang';
    expect((await ask(page, { 'access-control-request-headers': wanted })).headers).toMatchObject({
      'access-control-allow-headers': wanted,
      'access-control-expose-headers': expect.stringContaining('x-natter-session'),
    });
    const other = await ask(evil);
    expect([other.status, other.headers['access-control-allow-origin']]).toEqual([401, undefined]);
  });

  test.each([['*'], ['chat.example.org'], ['https://chat.example.org/'], ['https://chat.example.org/x']])(
    'what is no origin is not taken for one: %s',
    (origin) => {
      const read = configSchema.safeParse({ gateway: { allowedOrigins: [origin] } });
      expect(read.error?.issues[0]?.path).toEqual(['gateway', 'allowedOrigins', 0]);
    },
  );
});

/** A gateway whose log is read. `audited`: its lines that concern security. */
const startAudited = async () => {
  const [memory, output] = [openBroker(), new PassThrough()];
  const log = pino({ level: 'info' }, output);
  const config = configSchema.parse({ gateway: { port: 0 } });
  const gateway = await startGateway({ config: fixed(config), ports: memory.portsFor('gateway'), log, token, version: '0' });
  afterwards(() => gateway.stop(1_000));
  const admin = callerOf(gateway.url);
  await ready(admin);
  const written = () => String(output.read());
  const audited = (text = written()) =>
    text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
      .filter(({ audit }) => audit === true);
  return { url: gateway.url, admin, written, audited };
};

describe('audit', () => {
  test('what concerns security is in the log, without a token', async () => {
    const { url, admin, written, audited } = await startAudited();
    const stranger = callerOf(url, 'a-wrong-token');
    const { body: made } = await admin('POST', '/v1/tokens', { body: { role: 'read-only' } });
    for (let guess = 0; guess < 5; guess++) await stranger('GET', '/v1/sessions');
    await callerOf(url, made.token)('POST', pathOf(key, '/stop'));
    const { body: rotated } = await admin('POST', `/v1/tokens/${made.id}/rotate`);
    await admin('DELETE', `/v1/tokens/${made.id}`);
    const text = written();
    expect(audited(text).map(({ kind, actor, target }) => [kind, actor, target])).toEqual([
      ['token_created', 'token:api', made.id],
      ['authentication_failed', '', undefined],
      ['access_denied', `token:${made.id}`, undefined],
      ['token_rotated', 'token:api', made.id],
      ['token_revoked', 'token:api', made.id],
    ]);
    for (const secret of [token, made.token, rotated.token, 'a-wrong-token']) expect(text).not.toContain(secret);
  });

  test('I11: strangers do not fill the log, whatever they are refused for', async () => {
    const { url, audited } = await startAudited();
    const headers = { origin: 'https://evil.example' };
    for (let call = 0; call < 50; call++) await callerOf(url, null)('POST', '/v1/rpc', { body: {}, headers });
    const lines = audited();
    expect(lines[0]).toMatchObject({ kind: 'access_denied', route: '/v1/rpc', address: '127.0.0.1', count: 1 });
    expect(lines.length).toBeLessThan(10);
  });

  test('what a role may not do by MCP is in the log too', async () => {
    const { url, admin, audited } = await startAudited();
    const { body: made } = await admin('POST', '/v1/tokens', { body: { role: 'read-only' } });
    const params = { name: 'sessions_send', arguments: { sessionKey: key, message: 'hi', timeoutSeconds: 0 } };
    const headers = { accept: 'application/json, text/event-stream' };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    expect((await callerOf(url, made.token)('POST', '/mcp', { body, headers })).text).toContain('forbidden');
    expect(audited()).toContainEqual(
      expect.objectContaining({ kind: 'access_denied', actor: `token:${made.id}`, route: '/mcp' }),
    );
  });
});
