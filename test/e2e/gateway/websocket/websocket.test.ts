import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { methods } from '../../../../services/gateway/protocols/rpc/table.ts';
import { closeCodes } from '../../../../services/gateway/protocols/ws/frames.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { afterwards, callerOf, openGateway, openStream, pathOf, ready, startWorld, token } from '../setup.ts';
import { type Client, connect, knock, opened } from './websocket-client.ts';

const key = 'agent:main:main';
/** A clock on which this wait is short. */
const hurried = (waitMs: number): Clock => ({
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === waitMs ? 50 : ms, signal),
});
/** How a server refuses the upgrade itself. */
const refused = (client: Client): Promise<number> =>
  new Promise((resolve) => client.socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0)));

describe('who connects', () => {
  test('is greeted once a token has come, in the first frame or in the header, and can call every method', async () => {
    const { gateway } = await startWorld();
    const client = await connect(gateway.url);
    const hello = {
      type: 'hello',
      protocol: 1,
      version: '0.0.0-test',
      limits: { frameBytes: limits.commandBytes, calls: limits.socketCalls, waitSeconds: limits.waitSeconds },
      methods: [...Object.keys(methods), 'subscribe', 'unsubscribe'],
    };
    expect(client.frames).toEqual([hello]);
    const program = knock(gateway.url, { authorization: `Bearer ${token}` });
    expect(await program.next('hello')).toEqual(hello);
    expect((await program.call('status')).result).toMatchObject({ status: 'ready' });
  });

  test.each([
    ['a wrong token', { type: 'auth', token: 'wrong' }, 4401, /not valid/],
    ['a call', { type: 'req', id: 1, method: 'status' }, 4401, /"auth"/],
    ['an empty token', { type: 'auth', token: '' }, 4400, /^token: /],
    ['no JSON', 'hello', 4400, /^frame: is not valid JSON$/],
  ])('and begins with %s is sent away', async (_, frame, code, reason) => {
    const { gateway } = await startWorld();
    const client = knock(gateway.url);
    await opened(client);
    client.send(frame);
    client.send({ type: 'auth', token });
    const closed = await client.closed;
    expect(closed).toMatchObject({ code, reason: expect.stringMatching(reason) });
    expect(client.frames).toEqual([]);
  });

  test('and says nothing is sent away, and its place is free', async () => {
    const { gateway, call } = await startWorld({ clock: hurried(5_000) });
    const client = knock(gateway.url);
    expect(await client.closed).toMatchObject({ code: 4401, reason: 'nobody has authenticated within 5 s' });
    await vi.waitFor(async () => expect((await call('GET', '/metrics')).text).toMatch(/^natter_web_sockets\{.*\} 0$/m));
  });

  test('with a wrong header, from a page elsewhere, with a token in the address or somewhere else is not let in', async () => {
    const { gateway, call } = await startWorld();
    const authorization = `Bearer ${token}`;
    expect(await refused(knock(gateway.url, { authorization: 'Bearer wrong' }))).toBe(401);
    expect(await refused(knock(gateway.url, { authorization, origin: 'https://evil.example' }))).toBe(403);
    expect(await refused(knock(gateway.url, { origin: 'null' }))).toBe(403);
    await knock(gateway.url, { authorization, origin: gateway.url }).next('hello');
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' };
    expect((await call('GET', `/v1/ws?token=${token}`)).body).toMatchObject({ status: 400, field: 'token' });
    expect((await call('GET', '/v1/ws')).body).toMatchObject({ status: 400, code: 'invalid', field: 'upgrade' });
    expect((await call('GET', '/v1/sessions', { headers: upgrade })).body).toMatchObject({ status: 400, field: 'upgrade' });
    expect((await callerOf(gateway.url, null)('GET', '/v1/ws')).status).toBe(401);
  });
});

describe('frames', () => {
  const bad: readonly (readonly [string, string | Buffer, number, RegExp])[] = [
    ['no JSON', '{', 4400, /^frame: is not valid JSON$/],
    ['no object', '[]', 4400, /^frame|^type/],
    ['nothing', '', 4400, /frame|type/],
    ['of no known type', '{"type":"event"}', 4400, /^type: use a frame of type "auth" or "req"$/],
    ['without an id', '{"type":"req","method":"status"}', 4400, /^id: use a string or a number$/],
    ['without a method', '{"type":"req","id":1}', 4400, /^method: /],
    ['with an unknown field', '{"type":"req","id":1,"method":"status","token":"x"}', 4400, /^token: is not a known field/],
    ['that reach for a prototype', '{"type":"req","id":1,"method":"status","params":{"__proto__":{}}}', 4400, /^__proto__/],
    ['with a second token', `{"type":"auth","token":"${token}"}`, 4400, /authenticated already/],
    ['that are binary', Buffer.from('{"type":"req","id":1,"method":"status"}'), 4400, /text message/],
    [
      'that are too big',
      JSON.stringify('x'.repeat(limits.commandBytes)),
      1009,
      /^a frame has at most 262144 bytes; .* POST \/v1\/rpc/,
    ],
  ];
  test.each(bad)('%s end the connection', async (_, frame, code, reason) => {
    const { gateway } = await startWorld();
    const client = await connect(gateway.url);
    client.socket.send(frame);
    expect(await client.closed).toMatchObject({ code, reason: expect.stringMatching(reason) });
  });

  test('that ask for what cannot be are answered, and the connection goes on', async () => {
    const { gateway } = await startWorld();
    const client = await connect(gateway.url);
    const codes = [
      await client.call('sessions.burn'),
      await client.call('chat.send', { sessionKey: 'main' }),
      await client.call('agent.wait', { runId: 'none' }),
      await client.call('subscribe', { after: '999' }),
      await client.call('subscribe', { after: 17.2 }),
      await client.call('subscribe', { sessionKey: 'main', prefix: 'agent' }),
      await client.call('subscribe', { deltas: true }),
      await client.call('subscribe', { types: ['xstate.init'] }),
      await client.call('unsubscribe', { subscription: '1' }),
    ].map(({ ok, error }) => [ok, error.code, error.field]);
    expect(codes).toEqual([
      [false, 'invalid', 'method'],
      [false, 'invalid', 'message'],
      [false, 'not_found', 'runId'],
      [false, 'invalid', 'after'],
      [false, 'invalid', 'after'],
      [false, 'invalid', 'prefix'],
      [false, 'invalid', 'deltas'],
      [false, 'invalid', 'types'],
      [false, 'not_found', 'subscription'],
    ]);
    expect((await client.call('status')).ok).toBe(true);
  });
});

test('docs/integrate/websocket.md has each code that a connection is closed with, and no other but that of the protocol', () => {
  const table = readFileSync('docs/integrate/websocket.md', 'utf8').split('## Pings and closing')[1] ?? '';
  const documented = [...table.matchAll(/^\| (\d{4}) /gm)].map(([, code]) => Number(code));
  expect(documented).toEqual([...Object.values(closeCodes), 1009].sort());
});

describe('calls', () => {
  test('do not wait for one another, and one too many is refused', async () => {
    const { gateway, host } = await startWorld();
    host.hold();
    const client = await connect(gateway.url);
    const { runId } = (await client.call('agent', { sessionKey: 'main', message: 'hi' })).result;
    const waiting = Array.from({ length: limits.socketCalls }, () => client.call('agent.wait', { runId }));
    expect((await client.call('status')).error).toMatchObject({ code: 'overloaded', retryAfterMs: 1_000 });
    await host.release();
    for (const { result } of await Promise.all(waiting)) expect(result).toMatchObject({ status: 'ok' });
    expect((await client.call('status')).ok).toBe(true);
  });

  test('A10/122: a run is waited for after a new connection, on another replica', async () => {
    const { gateway, memory, host } = await startWorld();
    const other = await openGateway(memory.portsFor('gateway-2'));
    await ready(callerOf(other.url));
    host.hold();
    const client = await connect(gateway.url);
    const { runId } = (await client.call('agent', { sessionKey: 'main', message: 'hello' })).result;
    void client.call('agent.wait', { runId }).catch(() => {});
    client.socket.terminate();
    const again = await connect(other.url);
    const waiting = again.call('agent.wait', { runId });
    await host.release();
    expect((await waiting).result).toMatchObject({ runId, status: 'ok', reply: 'you said: hello' });
  });
});

describe('subscriptions', () => {
  const say = async (client: Client, sessionKey: string, message: string): Promise<void> => {
    const { result } = await client.call('agent', { sessionKey, message, timeoutSeconds: 5 });
    expect(result).toMatchObject({ status: 'ok' });
  };

  test('have the events of SSE, in the same order, from history to live, whole, of one session and of a prefix', async () => {
    const { gateway } = await startWorld();
    const client = await connect(gateway.url);
    await say(client, 'main', 'one');
    const streams = [
      await openStream(gateway.url, '/v1/events?after=0'),
      await openStream(gateway.url, `${pathOf(key, '/events')}?after=1.1`),
      await openStream(gateway.url, '/v1/events?after=0&key=agent:main:irc&type=assistant_message&type=user_message'),
    ];
    const answers = [
      await client.call('subscribe', { after: '0' }),
      await client.call('subscribe', { sessionKey: 'main', after: '1.1' }),
      await client.call('subscribe', { after: '0', prefix: 'agent:main:irc', types: ['assistant_message', 'user_message'] }),
    ];
    expect(answers.map(({ result }) => result)).toEqual([
      { subscription: '1', after: '0' },
      { subscription: '2', after: '1.1' },
      { subscription: '3', after: '0' },
    ]);
    await say(client, 'main', 'two');
    await say(client, 'agent:main:irc:group:x', 'three');
    await say(client, 'agent:main:irccloud:group:x', 'four');
    await say(client, 'agent:main:irc:group:x', 'five');
    const last = async () => (await callerOf(gateway.url)('GET', '/v1/events?limit=1000')).body.events.at(-1).id;
    const end = await last();
    await vi.waitFor(() => expect([streams[0]?.messages.at(-1)?.id, client.ids('1').at(-1)]).toEqual([end, end]));
    for (const [index, { messages }] of streams.entries()) {
      const frames = client.frames.filter(({ type, subscription }) => type === 'event' && subscription === `${index + 1}`);
      expect(frames.length).toBeGreaterThan(2);
      expect(frames.map(({ id, event }) => [id, event])).toEqual(messages.map(({ id, data }) => [id, JSON.parse(data)]));
    }
  });

  test('begin now unless told otherwise, after their own answer, and end when told', async () => {
    const { gateway } = await startWorld();
    const client = await connect(gateway.url);
    await say(client, 'main', 'before');
    const { result } = await client.call('subscribe', { sessionKey: 'main' });
    const now = client.frames.length;
    await say(client, 'main', 'then');
    await vi.waitFor(() => expect(client.ids().at(-1)).toMatch(/^4\./));
    expect(result).toEqual({ subscription: '1', after: '2' });
    expect(client.ids()[0]).toBe('3.0');
    expect(client.frames.findIndex(({ type }) => type === 'event')).toBeGreaterThanOrEqual(now);
    const ended = (await client.call('unsubscribe', { subscription: '1' })).result;
    expect(ended).toEqual({ subscription: '1', after: client.ids().at(-1) });
    const seen = client.ids().length;
    await say(client, 'main', 'after');
    expect(client.ids()).toHaveLength(seen);
  });

  test('come to the client of docs/integrate/websocket.md as it stands there', async () => {
    const { gateway } = await startWorld();
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync('docs/integrate/websocket.md', 'utf8')) ?? [];
    const there = program.replace('ws://127.0.0.1:4600', gateway.url.replace('http', 'ws'));
    const env = { ...process.env, NATTER_TOKEN: token };
    const child = spawn(process.execPath, ['--input-type=module', '-e', there], { env });
    afterwards(async () => void child.kill());
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const client = await connect(gateway.url);
    const streams = async () => (await callerOf(gateway.url)('GET', '/metrics')).text;
    await vi.waitFor(async () => expect(await streams()).toMatch(/^natter_event_streams\{.*\} 1$/m));
    await say(client, 'main', 'hello');
    await vi.waitFor(() => expect(printed).toContain(`assistant_message ${key}\n`));
  });

  test('interleave live text on request', async () => {
    const { gateway } = await startWorld();
    const client = await connect(gateway.url);
    await client.call('subscribe', { sessionKey: 'main', deltas: true });
    await say(client, 'main', 'hello');
    expect(await client.next('delta')).toMatchObject({ subscription: '1', delta: { key, offset: 0, text: 'you said: hello' } });
  });

  test('go on on another replica, cut off again and again, without gap or repeat', async () => {
    const { gateway, memory, call } = await startWorld();
    const other = await openGateway(memory.portsFor('gateway-2'));
    await ready(callerOf(other.url));
    const speaker = await connect(gateway.url);
    const seen: string[] = [];
    for (let round = 0; round < 8; round++) {
      const client = await connect(round % 2 === 0 ? gateway.url : other.url);
      await client.call('subscribe', { after: seen.at(-1) ?? '0' });
      await say(speaker, `agent:main:s${round % 3}`, `message ${round}`);
      await client.next('event');
      seen.push(...client.ids());
      client.socket.terminate();
    }
    const client = await connect(other.url);
    await client.call('subscribe', { after: seen.at(-1) ?? '0' });
    const { events } = (await call('GET', '/v1/events?limit=1000')).body;
    await vi.waitFor(() => expect([...seen, ...client.ids()]).toHaveLength(events.length));
    expect([...seen, ...client.ids()]).toEqual(events.map(({ id }: { id: string }) => id));
  });
});
