import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type CallOptions, callerOf, pathOf, startWorld, type World } from '../setup.ts';

const post = pathOf('agent:main:main', '/messages');
const envelope = { id: 'x', channel: 'irc', conversation: { id: '#x', kind: 'group' }, sender: { id: 'ann' }, text: 'hi' };

type Row = readonly [
  what: string,
  method: string,
  path: string,
  options: CallOptions,
  status: number,
  code: string,
  field?: string,
];

const badKeys: readonly (readonly [string, string])[] = [
  ['a star', 'agent:*'],
  ['a greater-than', 'agent:main:>'],
  ['a percent sign', 'agent:50%'],
  ['a space', 'agent:main:a b'],
  ['NUL', 'agent:main:a\0b'],
  ['a line break', 'agent:main:a\nb'],
  ['512 characters', `agent:${'x'.repeat(506)}`],
  ['an empty segment', 'agent::main'],
];
const badTypes = ['xstate.stop', 'xstate.done.actor.x', '*', '__proto__', ''];

const rows: readonly Row[] = [
  ...badKeys.flatMap(([what, key]): Row[] => [
    [`key with ${what}`, 'POST', pathOf(key, '/messages'), { body: { text: 'x' } }, 400, 'invalid', 'key'],
    [`key with ${what}`, 'GET', pathOf(key, '/events'), {}, 400, 'invalid', 'key'],
    [`key with ${what}`, 'POST', pathOf(key, '/stop'), {}, 400, 'invalid', 'key'],
  ]),
  ['key escaped twice', 'GET', '/v1/sessions/agent%253Amain', {}, 400, 'invalid', 'key'],
  ['key in bad UTF-8', 'GET', '/v1/sessions/agent%ff', {}, 400, 'invalid', 'key'],
  ...badTypes.flatMap((type): Row[] => [
    [`event type ${type}`, 'GET', `/v1/events?type=${encodeURIComponent(type)}`, {}, 400, 'invalid', 'type'],
    [`event type ${type}`, 'GET', `/v1/events?type=user_message&type=${encodeURIComponent(type)}`, {}, 400, 'invalid', 'type'],
  ]),
  ['unknown command', 'POST', pathOf('agent:main:main', '/explode'), { body: {} }, 404, 'not_found'],
  ['unknown method', 'PUT', pathOf('agent:main:main'), {}, 404, 'not_found'],
  ['unknown way to delete', 'DELETE', pathOf('agent:main:main', '?mode=all'), {}, 400, 'invalid', 'mode'],
  ['path tricks', 'GET', '/v1/sessions/../../etc/passwd', {}, 404, 'not_found'],
  ['no text', 'POST', post, { body: {} }, 400, 'invalid', 'text'],
  ['empty text', 'POST', post, { body: { text: '' } }, 400, 'invalid', 'text'],
  ['text of a wrong type', 'POST', post, { body: { text: 5 } }, 400, 'invalid', 'text'],
  ['no body', 'POST', post, {}, 400, 'invalid', 'text'],
  ['a list for a body', 'POST', post, { body: [] }, 400, 'invalid', 'body'],
  ['unknown field', 'POST', post, { body: { text: 'x', texts: 'y' } }, 400, 'invalid', 'texts'],
  [
    'unknown nested field',
    'POST',
    post,
    { body: { text: 'x', sender: { id: 'a', role: 'owner' } } },
    400,
    'invalid',
    'sender.role',
  ],
  ['__proto__ in the body', 'POST', post, { bytes: '{"text":"x","__proto__":{"a":1}}' }, 400, 'invalid', '__proto__'],
  ['nested __proto__', 'POST', post, { bytes: '{"text":"x","sender":{"id":"a","__proto__":1}}' }, 400, 'invalid', '__proto__'],
  ['__proto__ spelt with an escape', 'POST', post, { bytes: '{"text":"x","\\u005f_proto__":1}' }, 400, 'invalid', '__proto__'],
  ['constructor in the body', 'POST', post, { bytes: '{"text":"x","constructor":{}}' }, 400, 'invalid', 'constructor'],
  ['broken JSON', 'POST', post, { bytes: '{"text":' }, 400, 'invalid', 'body'],
  ['bad UTF-8', 'POST', post, { bytes: Buffer.from('7b2274657874223a22ff227d', 'hex') }, 400, 'invalid', 'body'],
  ['a broken surrogate pair', 'POST', post, { bytes: '{"text":"\\ud800"}' }, 400, 'invalid', 'text'],
  ['deep nesting', 'POST', post, { bytes: '['.repeat(100_000) }, 400, 'invalid', 'body'],
  ['too large a body', 'POST', post, { body: { text: 'x'.repeat(256 * 1024) } }, 413, 'too_large', 'text'],
  [
    'plain text',
    'POST',
    post,
    { bytes: 'hello', headers: { 'content-type': 'text/plain' } },
    415,
    'unsupported_media_type',
    'content-type',
  ],
  [
    'a form',
    'POST',
    post,
    { bytes: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'unsupported_media_type',
    'content-type',
  ],
  ['sendAt in the past', 'POST', post, { body: { text: 'x', sendAt: 1_700_000_000 } }, 400, 'invalid', 'sendAt'],
  ['sendAt after the last date', 'POST', post, { body: { text: 'x', sendAt: 8.64e15 } }, 400, 'invalid', 'sendAt'],
  ['sendAt after the year 9999', 'POST', post, { body: { text: 'x', sendAt: 253_402_300_800_000 } }, 400, 'invalid', 'sendAt'],
  [
    'sendAt there by its zone',
    'POST',
    post,
    { body: { text: 'x', sendAt: '9999-12-31T23:59:59-14:00' } },
    400,
    'invalid',
    'sendAt',
  ],
  ['a token for ever', 'POST', '/v1/tokens', { body: { role: 'owner', expiresAt: 8.64e15 } }, 400, 'invalid', 'expiresAt'],
  ['sendAt that is no time', 'POST', post, { body: { text: 'x', sendAt: 'tomorrow' } }, 400, 'invalid', 'sendAt'],
  ['sendAt with wait', 'POST', `${post}?wait=1`, { body: { text: 'x', sendAt: 9_999_999_999_999 } }, 400, 'invalid', 'wait'],
  ['too long a wait', 'POST', `${post}?wait=121`, { body: { text: 'x' } }, 400, 'invalid', 'wait'],
  ['a wait that is no number', 'POST', `${post}?wait=soon`, { body: { text: 'x' } }, 400, 'invalid', 'wait'],
  ['wait twice', 'POST', `${post}?wait=1&wait=2`, { body: { text: 'x' } }, 400, 'invalid', 'wait'],
  ['unknown parameter', 'POST', `${post}?token=abc`, { body: { text: 'x' } }, 400, 'invalid', 'token'],
  ['__proto__ as a parameter', 'GET', '/v1/sessions?__proto__=1', {}, 400, 'invalid', '__proto__'],
  [
    'a bad Idempotency-Key',
    'POST',
    post,
    { body: { text: 'x' }, headers: { 'idempotency-key': 'a b' } },
    400,
    'invalid',
    'idempotency-key',
  ],
  ['unknown field of stop', 'POST', pathOf('agent:main:main', '/stop'), { body: { why: 'x' } }, 400, 'invalid', 'why'],
  ['envelope without id', 'POST', '/v1/inbound', { body: { ...envelope, id: undefined } }, 400, 'invalid', 'id'],
  ['envelope with an unknown field', 'POST', '/v1/inbound', { body: { ...envelope, key: 'x' } }, 400, 'invalid', 'key'],
  [
    'envelope with a role',
    'POST',
    '/v1/inbound',
    { body: { ...envelope, sender: { id: 'a', role: 'owner' } } },
    400,
    'invalid',
    'sender.role',
  ],
  [
    'envelope with a wrong kind',
    'POST',
    '/v1/inbound',
    { body: { ...envelope, conversation: { id: 'x', kind: 'mob' } } },
    400,
    'invalid',
    'conversation.kind',
  ],
  ['envelope with a bad channel', 'POST', '/v1/inbound', { body: { ...envelope, channel: 'irc.*' } }, 400, 'invalid', 'channel'],
  ['envelope with a time in seconds', 'POST', '/v1/inbound', { body: { ...envelope, at: 1_763_736_000 } }, 400, 'invalid', 'at'],
  ['limit of 0', 'GET', '/v1/sessions?limit=0', {}, 400, 'invalid', 'limit'],
  ['limit over 1,000', 'GET', '/v1/events?limit=1001', {}, 400, 'invalid', 'limit'],
  ['an unknown status', 'GET', '/v1/sessions?status=dead', {}, 400, 'invalid', 'status'],
  ['a made-up cursor', 'GET', '/v1/sessions?cursor=abc', {}, 400, 'invalid', 'cursor'],
  ['after that is no place', 'GET', '/v1/events?after=1.x', {}, 400, 'invalid', 'after'],
  ['a key prefix with a wildcard', 'GET', '/v1/events?key=agent:*', {}, 400, 'invalid', 'key'],
  ['at that is no moment', 'GET', pathOf('agent:main:main', '/state?at=noon'), {}, 400, 'invalid', 'at'],
  ['after beyond the log', 'GET', '/v1/events?after=99', { headers: { accept: 'text/event-stream' } }, 400, 'invalid', 'after'],
  [
    'a bad Last-Event-ID',
    'GET',
    '/v1/events',
    { headers: { accept: 'text/event-stream', 'last-event-id': 'x' } },
    400,
    'invalid',
    'last-event-id',
  ],
  ['an unknown session', 'GET', pathOf('agent:main:nobody'), {}, 404, 'not_found', 'key'],
  ['messages of an unknown session', 'GET', pathOf('agent:main:nobody', '/messages'), {}, 404, 'not_found', 'key'],
  ['events of an unknown session', 'GET', pathOf('agent:main:nobody', '/events'), {}, 404, 'not_found', 'key'],
  ['commits of an unknown session', 'GET', pathOf('agent:main:nobody', '/commits'), {}, 404, 'not_found', 'key'],
  ['state of an unknown session', 'GET', pathOf('agent:main:nobody', '/state'), {}, 404, 'not_found', 'key'],
  ['an unknown run', 'GET', pathOf('agent:main:nobody', '/runs/x'), {}, 404, 'not_found', 'runId'],
];

const nothingStored = async ({ ports }: World): Promise<void> => {
  expect((await ports.events.info()).lastSeq).toBe(0);
  expect(await ports.commands.lag()).toBe(0);
  expect(await ports.inbound.lag()).toBe(0);
};

describe('bad input', () => {
  test('gets a problem that names the field; nothing is stored and the process goes on', async () => {
    const world = await startWorld();
    for (const [what, method, path, options, status, code, field] of rows) {
      const answer = await world.call(method, path, options);
      const seen = { what, path, status: answer.status, code: answer.body?.code, field: answer.body?.field };
      expect(seen).toEqual({ what, path, status, code, field });
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
      expect(answer.body).toMatchObject({ type: `urn:natter:problem:${code}`, status, title: expect.any(String) });
      expect(answer.body.detail).not.toBe('');
      expect(answer.body.requestId).toMatch(/^[0-9a-f-]{36}$/);
    }
    await nothingStored(world);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect((await world.call('POST', `${post}?wait=5`, { body: { text: 'still here' } })).body.status).toBe('ok');
  });

  test('ids with dots, slashes, @ and letters of any script are fine in a key', async () => {
    const { call } = await startWorld();
    for (const key of [
      'agent:main:matrix:group:!a.b/c@d',
      'agent:main:telegram:group:-100',
      'agent:main:irc:group:#größe',
      'agent:main:a+b',
    ]) {
      expect((await call('POST', pathOf(key, '/messages?wait=5'), { body: { text: 'x' } })).body).toMatchObject({ status: 'ok' });
      expect((await call('GET', pathOf(key))).body.key).toBe(key);
    }
  });

  test('too large headers and bytes that are no HTTP get a clear end', async () => {
    const { gateway, call } = await startWorld();
    const { hostname, port } = new URL(gateway.url);
    const raw = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(text));
        let seen = '';
        socket.on('data', (chunk) => {
          seen += chunk;
        });
        socket.on('error', () => resolve(seen));
        socket.on('close', () => resolve(seen));
      });
    expect(await raw('\x16\x03\x01 garbage\r\n\r\n')).toContain('"code":"invalid"');
    expect(await raw(`GET /livez HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`)).toContain(
      '"code":"headers_too_large"',
    );
    expect((await call('GET', '/livez')).status).toBe(200);
  });
});

describe('authentication', () => {
  const routes: readonly (readonly [string, string])[] = [
    ['POST', '/v1/inbound'],
    ['POST', post],
    ['POST', pathOf('a', '/stop')],
    ['POST', pathOf('a', '/reset')],
    ['POST', pathOf('a', '/open')],
    ['GET', '/v1/sessions'],
    ['GET', pathOf('a')],
    ['GET', pathOf('a', '/messages')],
    ['GET', pathOf('a', '/events')],
    ['GET', pathOf('a', '/commits')],
    ['GET', pathOf('a', '/state')],
    ['GET', pathOf('a', '/runs/x')],
    ['GET', '/v1/events'],
    ['GET', '/metrics'],
    ['GET', '/nowhere'],
  ];

  test('no route but /livez and /readyz answers without the token, on loopback too', async () => {
    const world = await startWorld();
    for (const bearer of [null, 'wrong', `${'a-token-for-tests'}x`, 'a-token-for-test']) {
      const call = callerOf(world.gateway.url, bearer);
      for (const [method, path] of routes) {
        const { status, body, headers } = await call(method, path);
        expect({ path, status, code: body.code }).toEqual({ path, status: 401, code: 'unauthorized' });
        expect(headers['www-authenticate']).toContain('Bearer');
      }
      expect((await call('GET', '/livez')).status).toBe(200);
      expect((await call('GET', '/readyz')).status).toBe(200);
    }
    const query = await callerOf(world.gateway.url, null)('GET', '/v1/sessions?token=a-token-for-tests');
    expect(query.status).toBe(401);
    const basic = await callerOf(world.gateway.url, null)('GET', '/v1/sessions', { headers: { authorization: 'Basic YTpi' } });
    expect(basic.status).toBe(401);
    await nothingStored(world);
  });
});
