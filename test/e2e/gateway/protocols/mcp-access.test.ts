import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../../../shared/kit/limits.ts';
import { type GatewayRig, type Name, openGateway, secretOf } from '../access/access-rig.ts';
import { callerOf, startWorld, token } from '../setup.ts';
import { direct, overHttp, overHttpBefore, signingIn, use } from './mcp-rig.ts';

/** What is seen by MCP as it happens, and what the gateway refuses before it listens (A8/89, I11); who may do what is in the access matrix. */

const group = 'agent:main:telegram:group:-100';
const as = (gateway: GatewayRig, name: Name) => overHttp(gateway.url, secretOf(name));
const ids = (answer: { events: { key: string }[] }) => new Set(answer.events.map(({ key }) => key));

describe('access', () => {
  test('A8/89-90: lists and waits have what the caller may see, whoever gave them the cursor', async () => {
    const gateway = await openGateway();
    await gateway.said(direct, ['telegram:1']);
    await gateway.said(group, ['telegram:1', 'telegram:2']);
    await vi.waitFor(async () => expect(await use(await as(gateway, 'owner'), 'sessions_list')).toMatchObject({ count: 2 }));
    const bob = await as(gateway, 'bob');
    expect(await use(bob, 'sessions_list')).toMatchObject({ count: 1 });
    const { next } = await use(await as(gateway, 'owner'), 'events_wait', { after: '0', timeoutSeconds: 0 });
    expect(ids(await use(bob, 'events_wait', { after: '0', timeoutSeconds: 0 }))).toEqual(new Set([group]));
    const waited = use(bob, 'events_wait', { after: next, timeoutSeconds: 10 });
    // It waits, beyond what was recorded already.
    await vi.waitFor(async () => expect((await gateway.as.owner('GET', '/metrics')).text).toMatch(/waiting_calls\S* 1\n/));
    await gateway.said(direct, ['telegram:1'], 'hidden');
    await gateway.said(group, ['telegram:2'], 'shown');
    expect(await waited).toMatchObject({ events: [{ key: group }] });
    expect(await use(await as(gateway, 'eve'), 'events_wait', { after: '0', timeoutSeconds: 0 })).toMatchObject({ events: [] });
  });

  test('A5/67: who may begin their own session may wait at it before it is there', async () => {
    const gateway = await openGateway();
    const ann = await as(gateway, 'annAtTelegram');
    const waited = use(ann, 'events_wait', { sessionKey: direct, after: '0', timeoutSeconds: 10 });
    await use(ann, 'sessions_send', { sessionKey: direct, message: 'hello', timeoutSeconds: 0 });
    expect(ids(await waited)).toEqual(new Set([direct]));
  });
});

describe('what is refused at once', () => {
  const json = { accept: 'application/json, text/event-stream' };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sessions_list', arguments: {} } };
  const post = async (options: object, bearer: string | null = token) => {
    const { gateway } = await startWorld();
    return callerOf(gateway.url, bearer)('POST', '/mcp', { headers: json, ...options });
  };

  test('a call without a token, with a wrong one, or with one in the address', async () => {
    const { gateway } = await startWorld();
    const bare = callerOf(gateway.url, null);
    const unauthorized = { status: 401, body: { code: 'unauthorized' } };
    expect(await bare('POST', '/mcp', { body: call, headers: json })).toMatchObject(unauthorized);
    expect(await bare('POST', `/mcp?token=${token}`, { body: call, headers: json })).toMatchObject(unauthorized);
    const sessionId = { ...json, 'mcp-session-id': 'a-session-of-somebody' };
    expect(await bare('POST', '/mcp', { body: call, headers: sessionId })).toMatchObject(unauthorized);
    expect(await callerOf(gateway.url, 'wrong')('POST', '/mcp', { body: call, headers: json })).toMatchObject(unauthorized);
  });

  test.each([
    ['the current client', overHttp],
    ['the previous client', overHttpBefore],
  ])('%s that would sign in with OAuth ends with what to do instead', async (_, connect) => {
    const { gateway } = await startWorld();
    const asked: string[] = [];
    const fetched: typeof fetch = (input, init) => {
      asked.push(new URL(String(input)).pathname);
      return fetch(input, init);
    };
    const told = /this gateway takes bearer tokens; there is no OAuth: make a token with "?natter token create/;
    const refused = connect(gateway.url, 'wrong', { ...signingIn(), fetch: fetched }).catch(
      ({ message, body }) => message + body,
    );
    expect((await refused).replaceAll('\\"', '"')).toMatch(told);
    expect(asked).toEqual(expect.arrayContaining(['/.well-known/oauth-protected-resource/mcp', '/register']));
    await expect(connect(gateway.url, 'wrong')).rejects.toThrow(/this token is not valid here|HTTP 401/);
  });

  test.each([
    ...['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration'].flatMap((name) => [
      ['GET', `/.well-known/${name}`] as const,
      ['GET', `/.well-known/${name}/mcp`] as const,
    ]),
    ...[['GET', '/mcp/.well-known/openid-configuration'] as const, ['GET', '/authorize?client_id=x'] as const],
    ...[['POST', '/register'] as const, ['POST', '/token'] as const],
  ])('%s %s is 404 without a token, and says why; to a foreign name it says nothing', async (method, path) => {
    const { gateway } = await startWorld();
    const bytes = method === 'POST' ? { bytes: Buffer.from('grant_type=x') } : {};
    const bare = callerOf(gateway.url, null);
    const detail = expect.stringContaining('there is no OAuth');
    expect(await bare(method, path, bytes)).toMatchObject({
      status: 404,
      body: { code: 'not_found', detail, error: 'invalid_request', error_description: detail },
      headers: { 'content-type': expect.stringContaining('application/problem+json') },
    });
    const foreign = await bare(method, path, { ...bytes, headers: { host: 'rebound.example' } });
    expect(foreign).toMatchObject({ status: 400, body: { field: 'host' } });
  });

  test.each(['https://evil.example', 'http://127.0.0.1:4600', 'null', ''])('a page in a browser: origin "%s"', async (origin) => {
    expect(await post({ body: call, headers: { ...json, origin } })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  test('50 MB', async () => {
    const sent = post({ bytes: Buffer.alloc(50 * 1024 * 1024, 0x20) });
    // The gateway does not read it to its end: the client may find the connection closed before it has the answer.
    const answer = await sent.catch((error: NodeJS.ErrnoException) => error.code);
    expect([413, 'EPIPE', 'ECONNRESET']).toContain(typeof answer === 'object' ? answer.status : answer);
  });

  test.each([
    ['{', 400, -32700],
    ['{"jsonrpc": }', 400, -32700],
    ['', 400, -32700],
    ['{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"__proto__": {}}}', 400, -32600],
    ['[]', 400, -32600],
    [JSON.stringify([call, call]), 400, -32600],
    ['null', 400, -32600],
    ['7', 400, -32600],
    ['{"id": 1}', 400, -32600],
    ['{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}', 400, -32600],
    ['{"jsonrpc": "2.0", "id": 1, "method": "tools/lists"}', 200, -32601],
  ])('JSON-RPC that is none: %s', async (bytes, status, code) => {
    const answer = await post({ bytes: Buffer.from(bytes) });
    const told = answer.body ?? JSON.parse(/^data: (.*)$/m.exec(answer.text)?.[1] ?? '{}');
    expect([answer.status, told.error?.code]).toEqual([status, code]);
  });

  test.each(['GET', 'DELETE'])('%s: there are no sessions to read or to end', async (method) => {
    const { gateway } = await startWorld();
    expect((await callerOf(gateway.url)(method, '/mcp', { headers: json })).status).toBe(405);
  });

  test('A10/122, I11: waits have places, and one whose client leaves is free again', async () => {
    const { gateway, ports } = await startWorld();
    const client = await overHttp(gateway.url, token);
    const waiting = () => (gateway as unknown as { metrics(): Record<string, number> }).metrics().waiting_calls;
    const leave = new AbortController();
    const waited = client.callTool(
      { name: 'events_wait', arguments: { timeoutSeconds: 100 } },
      { signal: leave.signal, timeout: limits.waitSeconds * 1_000 },
    );
    void waited.catch(() => {});
    await vi.waitFor(() => expect(waiting()).toBe(1));
    leave.abort();
    await vi.waitFor(() => expect(waiting()).toBe(0));
    await expect(waited).rejects.toThrow();
    expect(ports.problems()).toEqual([]);
  });
});
