import { describe, expect, test, vi } from 'vitest';
import { Access } from '../../../../services/gateway/context/access.ts';
import type { GatewayContext } from '../../../../services/gateway/context/gateway-context.ts';
import { SessionList } from '../../../../services/gateway/context/session-list.ts';
import { tools } from '../../../../services/gateway/protocols/mcp/tools.ts';
import {
  type SessionsListResult,
  sessionsHistoryResult,
  sessionsListParameters,
  sessionsListResult,
  sessionsSendResult,
} from '../../../../shared/domain/projections/schemas.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import type { EventLog } from '../../../../shared/ports/event-log.ts';
import { openGateway } from '../access/access-rig.ts';
import { afterwards, type Call, callerOf, config, ready, openGateway as startReplica, startWorld } from '../setup.ts';

/** Calls a method; the result, or the problem. */
const rpc = async (call: Call, method: string, params: object = {}): Promise<any> => {
  const { body } = await call('POST', '/v1/rpc', { body: { method, params } });
  return body.ok ? body.result : body;
};
const say = (call: Call, sessionKey: string, message = 'hello') =>
  rpc(call, 'agent', { sessionKey, message, timeoutSeconds: 10 });
const group = 'agent:main:telegram:group:-100';

describe('sessions_list', () => {
  test('A10/101-104, A3/40: kinds, limit, activity; newest first, without internal and deleted keys', async () => {
    const { call, ports } = await startWorld();
    for (const key of ['main', group, 'cron:daily', 'hook:1', 'node-mac', 'cli:work', 'global', 'hook:gone'])
      await say(call, key);
    await rpc(call, 'sessions.delete', { key: 'hook:gone', mode: 'key' });
    const { lastSeq } = await ports.events.info();
    await vi.waitFor(async () => expect(await ports.index.position()).toBe(lastSeq));
    const kindsOf = async (params: object) => (await rpc(call, 'sessions.list', params)).sessions.map(({ kind }: any) => kind);
    await vi.waitFor(async () => expect(await kindsOf({})).toEqual(['other', 'node', 'hook', 'cron', 'group', 'main']));
    expect(await kindsOf({ kinds: ['cron', 'main'] })).toEqual(['cron', 'main']);
    expect(await kindsOf({ limit: 2 })).toEqual(['other', 'node']);
    expect(await kindsOf({ limit: 100_000 })).toHaveLength(6);
    expect(await kindsOf({ channel: 'internal' })).toEqual(['node', 'hook', 'cron']);
    expect(await kindsOf({ keyPrefix: 'agent:main:telegram' })).toEqual(['group']);
    expect(await kindsOf({ keyPrefix: 'agent:main:telegram:' })).toEqual(['group']);
    expect(await kindsOf({ keyPrefix: 'agent:main:tele' })).toEqual([]);
    expect(await kindsOf({ keyPrefix: 'agent:main:node-mac' })).toEqual(['node']);
    expect(await kindsOf({ keyPrefix: 'agent:main:telegram:group:-100' })).toEqual(['group']);
    expect(await kindsOf({ keyPrefix: 'agent:main:telegram:group:-1' })).toEqual([]);
    expect(await kindsOf({ keyPrefix: 'agent' })).toHaveLength(6);
    const { nextCursor } = await rpc(call, 'sessions.list', { limit: 4 });
    expect(await kindsOf({ limit: 4, cursor: nextCursor })).toEqual(['group', 'main']);
    const row = await ports.index.get(group as never);
    await ports.index.put([{ ...row!, updatedAt: 1, seq: row!.seq + 100 }], lastSeq);
    await vi.waitFor(async () => expect(await kindsOf({ activeMinutes: 5 })).toEqual(['other', 'node', 'hook', 'cron', 'main']));
  });

  test('A3/22, 40, C2: under scope global the one session is main, and nobody sees global', async () => {
    const { as } = await openGateway({ session: { scope: 'global' } });
    await say(as.owner, 'main');
    await vi.waitFor(async () =>
      expect((await rpc(as.owner, 'sessions.list')).sessions).toMatchObject([{ key: 'main', kind: 'main' }]),
    );
    expect(JSON.stringify(await rpc(as.owner, 'sessions.list'))).not.toMatch(/"[^"]*global[^"]*"/);
    const { sessions } = (await as.owner('GET', '/v1/sessions')).body;
    expect(sessions).toMatchObject([{ key: 'main', shownKey: 'main' }]);
    const alone = (await as.owner('GET', `/v1/sessions/${sessions[0].key}`)).body;
    expect(alone).toMatchObject({ key: 'main', sessionId: sessions[0].sessionId });
    expect(JSON.stringify([sessions, alone])).not.toMatch(/"[^"]*global[^"]*"/);
  });

  test.each([{ scope: 'global' }, { mainKey: 'work' }])(
    'D1, D2: with %j no two rows have one key, and each key leads to the session of its row',
    async (session) => {
      const { as, done } = await openGateway({ session });
      const keys = ['main', 'work', 'global', 'cron:daily', 'telegram:group:-1'].map((name) => `agent:main:${name}`);
      for (const [index, key] of keys.entries()) {
        const message = { messageId: 'm1', text: 'hello', sender: { id: '1' } };
        await done(key, { type: 'append_message', sessionId: `s${index}`, message });
      }
      const hidden = 'scope' in session ? 0 : 1;
      const rows = await vi.waitFor(async () => {
        const { sessions } = await rpc(as.owner, 'sessions.list');
        const listed = (await as.owner('GET', '/v1/sessions')).body.sessions;
        expect([sessions.length, listed.length]).toEqual([keys.length - hidden, keys.length - hidden]);
        return [...sessions, ...sessions.map((row: any) => ({ ...row, key: row.shownKey })), ...listed];
      });
      for (const { key, sessionId } of rows) {
        expect(await rpc(as.owner, 'chat.history', { sessionKey: key }), key).toMatchObject({ sessionId });
      }
      const shown = rows.map(({ shownKey }) => shownKey);
      expect(shown).toEqual(expect.arrayContaining(['main', 'cron:daily', 'telegram:group:-1']));
    },
  );

  test('A10/102, 113: messageLimit brings the last messages, without tool results; one unreadable history leaves the others', async () => {
    const { call, memory } = await startWorld();
    for (const text of ['one', 'two', 'three']) await say(call, 'main', text);
    await say(call, 'cli:work', 'four');
    const { sessions } = await vi.waitFor(async () => {
      const result = await rpc(call, 'sessions.list', { messageLimit: 2 });
      expect(result.sessions).toHaveLength(2);
      expect(result.sessions[1].messages).toHaveLength(2);
      return result;
    });
    const textsOf = (row: any) => row.messages.map(({ content }: any) => content[0].text);
    expect(sessions.map(textsOf)).toEqual([
      ['four', 'you said: four'],
      ['three', 'you said: three'],
    ]);
    expect((await rpc(call, 'sessions.list')).sessions[0]).not.toHaveProperty('messages');
    const gateway = memory.portsFor('gateway-2');
    const read: EventLog['read'] = (key, options) => {
      if (key === 'agent:main:cli:work') throw new NatterError('invalid', 'no such event');
      return gateway.events.read(key, options);
    };
    const events = new Proxy(gateway.events, {
      get: (target, name) => (name === 'read' ? read : Reflect.get(target, name).bind(target)),
    });
    const other = callerOf((await startReplica({ ...gateway, events })).url);
    await ready(other);
    const left = (await rpc(other, 'sessions.list', { messageLimit: 2 })).sessions;
    expect(left.map((one: any) => one.messages.length)).toEqual([0, 2]);
  });

  test('A8/89, A10/101: a caller is listed what they may see', async () => {
    const { as, said } = await openGateway();
    await said(group, ['telegram:1', 'telegram:2']);
    await said('agent:main:telegram:default:dm:1', ['telegram:1']);
    const keysOf = async (call: Call) => (await rpc(call, 'sessions.list')).sessions.map(({ key }: any) => key);
    await vi.waitFor(async () => expect(await keysOf(as.owner)).toHaveLength(2));
    expect((await keysOf(as.ann)).sort()).toEqual(['agent:main:telegram:default:dm:1', group]);
    expect(await keysOf(as.bob)).toEqual([group]);
    expect(await keysOf(as.eve)).toEqual([]);
    expect(await keysOf(as.discord)).toEqual([]);
  });

  test('A1/1, 3, A2/13, 17: rows tell user interfaces tokens, labels and counts', async () => {
    const { call } = await startWorld();
    await say(call, 'main');
    await vi.waitFor(async () => expect((await rpc(call, 'sessions.list')).sessions[0]?.completedTurns).toBe(1));
    const { sessions } = await rpc(call, 'sessions.list');
    expect(sessions[0]).toMatchObject({
      ...{ key: 'agent:main:main', kind: 'main', provider: 'unknown', channel: 'unknown', status: 'idle', model: 'test' },
      ...{
        inputTokens: 1,
        outputTokens: 1,
        totalTokens: 2,
        contextTokens: 2,
        systemSent: true,
        abortedLastRun: false,
        failedLastRun: false,
      },
      ...{ messageCount: 2, lastMessagePreview: 'you said: hello', origin: {} },
    });
    const shown = { count: sessions.length, sessions };
    expect(sessionsListResult.parse(shown).sessions[0]).not.toHaveProperty('status');
  });
});

describe('the tool itself', () => {
  test('A10/100, 103: the same rows under the names that agents use, without what is for user interfaces', async () => {
    const { call, ports } = await startWorld();
    await say(call, 'main');
    await say(call, group);
    const sessions = new SessionList(ports, config.session.mainKey);
    afterwards(() => sessions.close());
    const context = { ports, config, sessions, access: new Access(sessions, () => config) } as unknown as GatewayContext;
    const caller = { id: 'call', actor: 'agent', principal: { role: 'owner' } } as const;
    const parameters = sessionsListParameters.parse({ limit: 9 });
    const result = await vi.waitFor(async () => {
      const call = { context, caller, signal: new AbortController().signal };
      const found = (await tools.sessions_list?.run(call, parameters)) as SessionsListResult;
      expect(found.sessions.map(({ totalTokens }) => totalTokens)).toEqual([2, 2]);
      return found;
    });
    expect(sessionsListResult.strict().parse(result)).toMatchObject({
      count: 2,
      sessions: [
        { key: group, kind: 'group' },
        { key: 'main', kind: 'main' },
      ],
    });
    expect(Object.keys(result.sessions[0] ?? {})).not.toContain('inputTokens');
  });
});

describe('sessions_history', () => {
  test('A10/115-116: the last messages of the present generation, by a short key', async () => {
    const { call } = await startWorld();
    for (const text of ['one', 'two', 'three']) await say(call, 'main', text);
    const textsOf = async (params: object) =>
      (await rpc(call, 'chat.history', { sessionKey: 'main', ...params })).messages.map(({ content }: any) => content[0].text);
    expect(await textsOf({})).toEqual(['one', 'you said: one', 'two', 'you said: two', 'three', 'you said: three']);
    expect(await textsOf({ limit: 3 })).toEqual(['you said: two', 'three', 'you said: three']);
    expect(sessionsHistoryResult.strict().parse(await rpc(call, 'chat.history', { sessionKey: 'main' }))).toMatchObject({
      sessionKey: 'main',
      sessionId: expect.stringMatching(/^api:/),
    });
    await rpc(call, 'sessions.reset', { key: 'main' });
    expect(await textsOf({})).toEqual([]);
    await say(call, 'main', 'four');
    expect(await textsOf({ limit: 1_000_000 })).toEqual(['four', 'you said: four']);
  });

  test('A10/115: a snapshot says where to begin and changes nothing in the answer', async () => {
    const { call, ports, host } = await startWorld();
    for (const text of ['one', 'two', 'three']) await say(call, 'main', text);
    const whole = await rpc(call, 'chat.history', { sessionKey: 'main' });
    const { toPlain } = await import('../../../../shared/domain/session/fold/evolve.ts');
    await ports.snapshots.put('agent:main:main' as never, toPlain(host.state('agent:main:main' as never)));
    await say(call, 'main', 'four');
    const { messages } = await rpc(call, 'chat.history', { sessionKey: 'main' });
    expect(messages.slice(0, 6)).toEqual(whole.messages);
    expect((await rpc(call, 'chat.history', { sessionKey: 'main', limit: 3 })).messages).toEqual(messages.slice(-3));
  });

  test('A8/89, A5/67: a stranger hears of no session, whether there is one or not', async () => {
    const { as, said } = await openGateway();
    await said(group, ['telegram:1']);
    const foreign = await rpc(as.eve, 'chat.history', { sessionKey: group });
    const missing = await rpc(as.eve, 'chat.history', { sessionKey: 'telegram:group:-1' });
    expect(foreign).toMatchObject({ status: 404, code: 'not_found' });
    expect({ ...foreign, requestId: '' }).toEqual({ ...missing, requestId: '' });
    expect((await rpc(as.ann, 'chat.history', { sessionKey: group })).messages).toHaveLength(1);
  });
});

describe('sessions_send', () => {
  const send = async (call: Call, params: object) => sessionsSendResult.parse(await rpc(call, 'agent', params));

  test('A10/118: 0 does not wait', async () => {
    const { call, host } = await startWorld();
    host.hold();
    const sent = await send(call, { sessionKey: 'main', message: 'hello', timeoutSeconds: 0 });
    expect(sent).toEqual({ runId: expect.any(String), status: 'accepted' });
  });

  test('A10/119, 121: waits for the reply, or for what went wrong', async () => {
    const { call } = await startWorld();
    const runId = expect.any(String);
    expect(await send(call, { sessionKey: 'main', message: 'hello', timeoutSeconds: 10 })).toEqual({
      runId,
      status: 'ok',
      reply: 'you said: hello',
    });
    expect(await send(call, { sessionKey: 'main', message: 'fail', timeoutSeconds: 10 })).toEqual({
      runId,
      status: 'error',
      error: { code: 'model_error', message: 'the model would not' },
    });
  });

  test('A10/120, 122: the wait ends, the run goes on; any replica waits for it by its id alone', async () => {
    const { call, host, memory } = await startWorld();
    host.hold();
    const sent = await send(call, { sessionKey: 'main', message: 'slow', timeoutSeconds: 0.05 });
    expect(sent).toMatchObject({ status: 'timeout', error: { code: 'timeout' } });
    const other = callerOf((await startReplica(memory.portsFor('gateway-2'))).url);
    await ready(other);
    expect(await rpc(other, 'agent.wait', { runId: sent.runId, timeoutMs: 10 })).toMatchObject({ status: 'timeout' });
    expect(await rpc(other, 'agent.wait', { runId: sent.runId, timeoutMs: 0 })).toMatchObject({ status: 'timeout' });
    const waiting = rpc(other, 'agent.wait', { runId: sent.runId, timeoutMs: 10_000 });
    await host.release();
    expect(await waiting).toEqual({ runId: sent.runId, status: 'ok', reply: 'you said: slow' });
    expect(await rpc(call, 'agent.wait', { runId: sent.runId })).toMatchObject({ status: 'ok' });
    expect((await rpc(call, 'chat.history', { sessionKey: 'main', limit: 1 })).messages[0].content[0].text).toBe(
      'you said: slow',
    );
  });

  test('A10/122: a run of another call is found with its session; what is no run, or not the caller’s, is not found', async () => {
    const { call } = await startWorld();
    const { body } = await call('POST', '/v1/sessions/agent:main:main/messages', { body: { text: 'hello' } });
    expect(await rpc(call, 'agent.wait', { runId: body.runId, sessionKey: 'main' })).toMatchObject({ status: 'ok' });
    expect(await rpc(call, 'agent.wait', { runId: body.runId })).toMatchObject({ status: 404, field: 'runId' });
    expect(await rpc(call, 'agent.wait', { runId: 'x', sessionKey: 'main', timeoutMs: 0 })).toMatchObject({ status: 404 });
    const { as, said } = await openGateway();
    await said(group, ['telegram:1']);
    const { runId } = await rpc(as.ann, 'chat.send', { sessionKey: group, message: 'hello' });
    expect(await rpc(as.eve, 'agent.wait', { runId })).toMatchObject({ status: 404, code: 'not_found' });
    expect(await rpc(as.ann, 'agent.wait', { runId })).toMatchObject({ status: 'ok' });
  });

  test('A5/66-67: a message is from the person the token stands for, in sessions they may write to', async () => {
    const { as, said } = await openGateway();
    await said(group, ['telegram:1']);
    expect(await say(as.eve, group)).toMatchObject({ status: 404, code: 'not_found' });
    await say(as.ann, group);
    const { messages } = await rpc(as.owner, 'chat.history', { sessionKey: group });
    expect(messages.filter(({ role }: any) => role === 'user').map(({ sender }: any) => sender.id)).toEqual(['1', 'telegram:1']);
  });
});
