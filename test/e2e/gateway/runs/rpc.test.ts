import { describe, expect, test, vi } from 'vitest';
import { methods } from '../../../../services/gateway/protocols/rpc/table.ts';
import { openGateway } from '../access/access-rig.ts';
import { type Call, config, startWorld } from '../setup.ts';

const post = (call: Call, body: unknown) => call('POST', '/v1/rpc', { body });
/** Calls a method; the result, or the problem. */
const rpc = async (call: Call, method: string, params: object = {}): Promise<any> => {
  const { body } = await post(call, { method, params });
  return body.ok ? body.result : body;
};
const say = (call: Call, sessionKey: string, message = 'hello') =>
  rpc(call, 'agent', { sessionKey, message, timeoutSeconds: 10 });
const main = 'agent:main:main';
const dm = 'agent:main:telegram:default:dm:1';
const group = 'agent:main:telegram:group:-100';

describe('POST /v1/rpc', () => {
  test('A12/130-131: answers with the id it was given, or none', async () => {
    const { call } = await startWorld();
    expect((await post(call, { method: 'sessions.list' })).body).toEqual({
      ok: true,
      result: { sessions: [], nextCursor: null },
    });
    expect((await post(call, { id: 7, method: 'sessions.list', params: {} })).body).toMatchObject({ id: 7, ok: true });
    expect((await post(call, { id: 'a', method: 'status' })).body).toMatchObject({ id: 'a', ok: true });
  });

  test('A12/131: the methods of the specification are all there', () => {
    const named = ['sessions.list', 'sessions.patch', 'chat.history', 'chat.send', 'agent', 'agent.wait'];
    const sessions = [
      'sessions.read',
      'sessions.reset',
      'sessions.delete',
      'sessions.compact',
      'sessions.checkpoint',
      'sessions.fork',
    ];
    const memory = ['memory.list', 'memory.get', 'memory.forget'];
    const deadLetters = ['deadLetters.list', 'deadLetters.get', 'deadLetters.resend', 'deadLetters.discard'];
    const deliveries = [
      'deliveries.list',
      'deliveries.delivered',
      'deliveries.get',
      'deliveries.repeat',
      'deliveries.leave',
      'deliveries.resume',
    ];
    const pairing = ['pairing.list', 'pairing.approve', 'pairing.deny', 'pairing.revoke'];
    const inspection = ['hosts.list', 'skills.list', 'config.get', 'doctor.run', 'log.tail'];
    const ours = [
      ...inspection,
      ...sessions,
      ...memory,
      ...deadLetters,
      ...deliveries,
      ...pairing,
      'messages.search',
      'approvals.list',
      'approvals.resolve',
      'status',
    ];
    expect(Object.keys(methods).sort()).toEqual([...named, ...ours].sort());
  });

  test.each([
    [{}, 'method'],
    [{ method: 'sessions.lists' }, 'method'],
    [{ method: 'constructor' }, 'method'],
    [{ method: 'toString' }, 'method'],
    [{ method: 'status', params: [] }, 'params'],
    [{ method: 'status', params: 'x' }, 'params'],
    [{ method: 'status', params: { x: 1 } }, 'x'],
    [{ method: 'status', extra: 1 }, 'extra'],
    [{ method: 'status', id: {} }, 'id'],
    [{ method: 'sessions.list', params: { kinds: ['dm'] } }, 'kinds.0'],
    [{ method: 'sessions.list', params: { cursor: 'x' } }, 'cursor'],
    [{ method: 'chat.send', params: { message: 'x' } }, 'sessionKey'],
    [{ method: 'chat.send', params: { sessionKey: 'unknown', message: 'x' } }, 'sessionKey'],
    [{ method: 'chat.send', params: { sessionKey: 'a b', message: 'x' } }, 'sessionKey'],
    [{ method: 'chat.send', params: { sessionKey: 'group:7', message: 'x' } }, 'sessionKey'],
    [{ method: 'chat.send', params: { sessionKey: 'main', message: 'x', idempotencyKey: 'a b' } }, 'idempotencyKey'],
    [{ method: 'chat.history', params: { sessionKey: 'agent:' } }, 'sessionKey'],
    [{ method: 'agent.wait', params: { runId: 'x', timeoutMs: -1 } }, 'timeoutMs'],
  ])('A10/100: %j is refused by naming %s', async (body, field) => {
    const { call } = await startWorld();
    expect(await post(call, body)).toMatchObject({ status: 400, body: { code: 'invalid', field } });
  });

  test('A12/128: status tells whether all is well, where the mirror is, and the recent sessions', async () => {
    const { as } = await openGateway({ session: { store: '~/mirror/{agentId}/sessions.json' } });
    await say(as.owner, 'main');
    await vi.waitFor(async () => expect((await rpc(as.owner, 'status')).sessions).toHaveLength(1));
    expect(await rpc(as.owner, 'status')).toMatchObject({
      ...{ status: 'ready', problems: [], details: [], store: '~/mirror/{agentId}/sessions.json' },
      sessions: [{ key: 'main', transcriptPath: expect.stringMatching(/^~\/mirror\/main\/api/) }],
    });
    expect(Object.keys(await rpc(as.eve, 'status'))).toEqual(['status', 'problems', 'details', 'version', 'sessions']);
    expect((await rpc(as.eve, 'status')).sessions).toEqual([]);
  });

  test('A10/112: where a transcript is on the host is told to the owner alone', async () => {
    const { as, said } = await openGateway({ session: { store: '/var/mirror/{agentId}/sessions.json' } });
    await said('agent:main:telegram:group:g', ['telegram:1']);
    for (const method of ['sessions.list', 'status']) {
      const rowsFor = (name: 'owner' | 'ann' | 'telegram') =>
        vi.waitFor(async () => {
          const { sessions } = await rpc(as[name], method);
          expect(sessions).toHaveLength(1);
          return sessions;
        });
      expect(await rowsFor('owner')).toMatchObject([{ transcriptPath: expect.stringMatching(/^\/var\/mirror\/main\//) }]);
      expect(JSON.stringify([await rowsFor('ann'), await rowsFor('telegram')])).not.toContain('mirror');
    }
  });
});

describe('chat.send', () => {
  test('B32: the same idempotencyKey is one run: accepted, in flight, over', async () => {
    const { call, host } = await startWorld();
    host.hold();
    const once = { sessionKey: 'main', message: 'hello', idempotencyKey: 'k1' };
    const { runId, ...first } = await rpc(call, 'chat.send', once);
    expect(first).toEqual({ status: 'accepted' });
    expect(await rpc(call, 'chat.send', once)).toEqual({ runId, status: 'in_flight' });
    await host.release();
    await rpc(call, 'agent.wait', { runId });
    expect(await rpc(call, 'chat.send', once)).toEqual({ runId, status: 'ok', reply: 'you said: hello' });
    expect((await rpc(call, 'chat.history', { sessionKey: 'main' })).messages).toHaveLength(2);
    expect((await rpc(call, 'chat.send', { ...once, idempotencyKey: 'k2' })).runId).not.toBe(runId);
    expect((await rpc(call, 'chat.send', { ...once, sessionKey: 'cli:x' })).runId).not.toBe(runId);
  });

  test('B32: what was refused for good stays so', async () => {
    const { call } = await startWorld();
    const once = { sessionKey: 'main', message: 'fail', idempotencyKey: 'k1' };
    const { runId } = await rpc(call, 'chat.send', once);
    await rpc(call, 'agent.wait', { runId });
    expect(await rpc(call, 'chat.send', once)).toMatchObject({ runId, status: 'error', error: { code: 'model_error' } });
  });

  test('I11: a full queue refuses', async () => {
    const { call, host, ports } = await startWorld();
    host.hold();
    await rpc(call, 'chat.send', { sessionKey: 'main', message: 'x' });
    await vi.waitFor(async () => expect(await ports.index.get(main as never)).not.toBeNull());
    const { limit } = config.session.queue;
    for (let sent = 0; sent < limit; sent++) await rpc(call, 'chat.send', { sessionKey: 'main', message: 'x' });
    await vi.waitFor(async () => expect((await ports.index.get(main as never))?.queuedTurns).toBe(limit));
    expect(await rpc(call, 'chat.send', { sessionKey: 'main', message: 'x' })).toMatchObject({ status: 429, code: 'overloaded' });
    await host.release();
  });
});

describe('the send policy at the gateway', () => {
  const sendPolicy = {
    rules: [
      { action: 'deny', match: { channel: 'telegram', chatType: 'group' } },
      { action: 'deny', match: { keyPrefix: 'cron:' } },
    ],
  };

  test.each(['chat.send', 'agent'])('A9/98: %s is refused with the rule, and nothing is recorded', async (method) => {
    const { as, ports } = await openGateway({ session: { sendPolicy } });
    const refused = { status: 403, code: 'send_denied', detail: expect.stringContaining('session.sendPolicy.rules[0]') };
    expect(await rpc(as.owner, method, { sessionKey: group, message: 'x' })).toMatchObject(refused);
    expect(await rpc(as.owner, method, { sessionKey: 'cron:daily', message: 'x' })).toMatchObject({
      detail: expect.stringContaining('session.sendPolicy.rules[1]'),
    });
    for (const message of ['/new', '/new x'])
      expect(await rpc(as.owner, method, { sessionKey: group, message })).toMatchObject(refused);
    expect(await ports.events.last(group as never)).toBeNull();
    expect(await rpc(as.owner, method, { sessionKey: 'main', message: 'x' })).not.toHaveProperty('code');
  });

  test('A9/96-97: sessions.patch overrides it, and null inherits again', async () => {
    const { as } = await openGateway({ session: { sendPolicy } });
    await say(as.owner, 'main');
    const patched = await rpc(as.owner, 'sessions.patch', { key: 'main', sendPolicy: 'deny' });
    expect(patched).toMatchObject({ key: main, status: 'ok', outcome: 'accepted', settings: { sendPolicy: 'deny' } });
    expect(await say(as.owner, 'main')).toMatchObject({ code: 'send_denied', detail: expect.stringContaining('override') });
    await rpc(as.owner, 'sessions.patch', { key: 'main', sendPolicy: null });
    expect(await say(as.owner, 'main')).toMatchObject({ status: 'ok' });
  });

  test('A9/94, 97: the send policy of a session is for its owner to change', async () => {
    const { as, said } = await openGateway();
    await said(dm, ['telegram:1']);
    expect(await rpc(as.ann, 'sessions.patch', { key: dm, sendPolicy: 'allow' })).toMatchObject({ code: 'forbidden' });
    expect(await rpc(as.ann, 'sessions.patch', { key: dm, displayName: 'Mine' })).toMatchObject({
      settings: { displayName: 'Mine' },
    });
    expect(await rpc(as.eve, 'sessions.patch', { key: dm, displayName: 'Mine' })).toMatchObject({ code: 'not_found' });
  });
});

describe('sessions.*', () => {
  test('A10/106, 109: settings are kept, changed one by one and unset', async () => {
    const { call } = await startWorld();
    await say(call, 'main');
    const settingsAfter = async (params: object) => (await rpc(call, 'sessions.patch', { key: 'main', ...params })).settings;
    expect(await settingsAfter({ thinkingLevel: 'high', displayName: 'Work' })).toEqual({
      thinkingLevel: 'high',
      displayName: 'Work',
    });
    expect(await settingsAfter({ verboseLevel: 'on', thinkingLevel: null })).toEqual({ verboseLevel: 'on', displayName: 'Work' });
    await vi.waitFor(async () =>
      expect((await rpc(call, 'sessions.list')).sessions[0]).toMatchObject({ displayName: 'Work', verboseLevel: 'on' }),
    );
    expect(await rpc(call, 'sessions.patch', { key: 'main' })).toMatchObject({ code: 'invalid', field: 'params' });
    expect(await rpc(call, 'sessions.patch', { key: 'main', model: 'no-such-model' })).toMatchObject({ field: 'model' });
    expect(await rpc(call, 'sessions.patch', { key: 'cli:none', displayName: 'x' })).toMatchObject({ code: 'not_found' });
  });

  test('D11: an unknown level of thinking or verbosity is refused with the list, over both interfaces', async () => {
    const { call } = await startWorld();
    await say(call, 'main');
    for (const [field, level, list] of [
      ['thinkingLevel', 'enormous', 'off, minimal, low, medium, high, xhigh'],
      ['verboseLevel', 'maybe', 'off, on, full'],
    ] as const) {
      const refusal = { status: 400, code: 'invalid', field, detail: expect.stringContaining(`use one of ${list}`) };
      expect(await rpc(call, 'sessions.patch', { key: 'main', [field]: level })).toMatchObject(refusal);
      expect((await call('PATCH', `/v1/sessions/${main}`, { body: { [field]: level } })).body).toMatchObject(refusal);
    }
    expect((await call('GET', `/v1/sessions/${main}`)).body.settings).toEqual({});
  });

  test('A4/53, C10: sessions.reset begins a new generation under the same key', async () => {
    const { call, host } = await startWorld();
    await say(call, 'main');
    const before = host.state(main as never).machine.context;
    expect(await rpc(call, 'sessions.reset', { key: 'main', reason: 'enough' })).toMatchObject({
      key: main,
      outcome: 'accepted',
    });
    const after = host.state(main as never).machine.context;
    expect(after).toMatchObject({ generation: before.generation + 1, messages: 0 });
    expect(after.sessionId).not.toBe(before.sessionId);
    expect(await rpc(call, 'sessions.reset', { key: 'cli:none' })).toMatchObject({ code: 'not_found' });
  });

  test('A8/87-88, C9: a session is deleted where the rules allow it, a key by its owner whatever it is', async () => {
    const { as, said, host } = await openGateway();
    await said(dm, ['telegram:1']);
    await said(group, ['telegram:1']);
    expect(await rpc(as.ann, 'sessions.delete', { key: group })).toMatchObject({ status: 409, code: 'session_retained' });
    expect(await rpc(as.ann, 'sessions.delete', { key: group, mode: 'key' })).toMatchObject({ code: 'forbidden' });
    host.hold();
    await rpc(as.ann, 'chat.send', { sessionKey: dm, message: 'x' });
    await vi.waitFor(async () =>
      expect(await rpc(as.ann, 'sessions.delete', { key: dm })).toMatchObject({ status: 409, code: 'session_busy' }),
    );
    await host.release();
    expect(await rpc(as.ann, 'sessions.delete', { key: dm })).toMatchObject({ outcome: 'accepted' });
    expect(await rpc(as.owner, 'sessions.delete', { key: group, mode: 'key' })).toMatchObject({ outcome: 'accepted' });
    expect(await rpc(as.owner, 'chat.history', { sessionKey: dm })).toMatchObject({ code: 'not_found' });
    expect(await say(as.owner, dm)).toMatchObject({ status: 'ok' });
  });
});
