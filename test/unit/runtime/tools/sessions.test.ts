import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sessionTools } from '../../../../services/session/tools/sessions.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { belowOf, depthOf, spawnOf } from '../../../../shared/domain/keys/spawn-key.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import type { IndexView } from '../../../../shared/ports/session-index.ts';
import type { ToolEnd, ToolScope } from '../../../../shared/ports/tools.ts';
import { type MiniHost, startMiniHost } from '../../../support/mini-host.ts';

const keyOf = (name: string): SessionKey => `agent:main:${name}` as SessionKey;
const home = keyOf('main');
const owner: Sender = { id: '7', role: 'owner', principal: 'telegram:7' };
const ann: Sender = { id: '1', role: 'participant', principal: 'telegram:1' };
const bob: Sender = { id: '2', role: 'participant', principal: 'telegram:2' };
const program: Sender = { id: 'api', role: 'program' };
const child = spawnOf(home, 't1.1.0');
const noSuch = /there is no such session, or it is out of reach here/;

let ports: Ports;
let host: MiniHost;
let view: IndexView;
let posted = 0;
beforeEach(async () => {
  ports = openInMemory({ clock: systemClock }).portsFor('test');
  host = await startMiniHost(ports);
  view = await ports.index.watch();
});
afterEach(async () => {
  await host.close();
  await view.close();
});

const scopeOf = (sender: Sender, change: Partial<ToolScope> = {}): ToolScope => ({
  ...{ key: home, sessionId: 's1', turn: { id: 't1', attempt: 1 }, sender, generation: 3 },
  ...change,
});
const toolsOf = (tools: object, session: object = {}) =>
  sessionTools({ config: configSchema.parse({ tools, session }), ports, view });

/** Calls a tool and resolves with what it answers, as JSON where it is. */
const call = async (
  name: string,
  given: unknown,
  { sender = owner, visibility = 'all', tools = {}, session = {}, callId = 't1.1.0', ...change }: Options = {},
): Promise<{ outcome: string; answer: Record<string, unknown> }> => {
  const scope = scopeOf(sender, change);
  const tool = toolsOf({ visibility, ...tools }, session)
    .of(scope)
    .find((one) => one.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const { outcome, text }: ToolEnd = await tool.run(
    { callId, arguments: given, scope },
    change.signal ?? new AbortController().signal,
  );
  return { outcome, answer: outcome === 'ok' || text.startsWith('{') ? JSON.parse(text) : { text } };
};
interface Options extends Partial<ToolScope> {
  readonly visibility?: string;
  readonly tools?: object;
  readonly session?: object;
  readonly callId?: string;
  readonly signal?: AbortSignal;
}

/** Somebody says something in a session, and the index knows of it. */
const say = async (key: SessionKey, text: string, sender: Sender = owner, source?: object): Promise<void> => {
  const id = `said-${++posted}`;
  const before = view.get(key)?.messageCount ?? 0;
  const message = { messageId: id, text, sender };
  const data = { type: 'post_message', sessionId: `of ${key}`, message, ...(source && { source }) } as never;
  await ports.commands.publish({ id, key, at: systemClock.now(), correlationId: id, causationId: id, actor: 'test', data });
  await vi.waitFor(async () => {
    for await (const commit of ports.events.read(key)) view.take(commit);
    expect(view.get(key)?.messageCount).toBe(before + 2);
  });
};
const messagesIn = async (key: SessionKey) => {
  const found = [];
  for await (const { events, at } of ports.events.read(key)) {
    for (const event of events) if (event.type === 'user_message') found.push({ ...event.message, at });
  }
  return found;
};
const listed = async (options?: Options): Promise<unknown[]> =>
  ((await call('sessions_list', {}, options)).answer.sessions as { key: string }[]).map(({ key }) => key).sort();

describe('which sessions a turn reaches', () => {
  const spawned = { kind: 'subagent', interactive: false, ids: { parent: home, person: 'telegram:1' } };
  const other = keyOf('telegram:dm:2');
  const group = keyOf('telegram:group:-1');
  const stranger = 'agent:other:telegram:dm:2' as SessionKey;
  beforeEach(async () => {
    await say(home, 'hello', owner);
    await say(child.key, 'task', program, spawned);
    await say(other, 'a secret', bob);
    await say(group, 'hi', ann);
    await say(group, 'hi', bob);
    await say(stranger, 'elsewhere', bob);
  });

  test.each<[string, Options, string[]]>([
    ['self', { visibility: 'self' }, ['main']],
    ['tree', { visibility: 'tree' }, ['main', child.key]],
    ['agent', { visibility: 'agent' }, ['main', child.key, other, group]],
    ['all', {}, ['main', child.key, other, group, stranger]],
    ['all, and yet not for a participant: their own alone (A8/89)', { sender: ann }, ['main', child.key, group]],
    ["a sub-agent of one person is nobody else's", { sender: bob, visibility: 'tree' }, ['main']],
    ['a program is nobody', { sender: program }, ['main']],
    [
      'a sub-agent reaches what it has begun, not who began it',
      { sender: program, visibility: 'tree', key: child.key },
      [child.key],
    ],
    [
      "a name of the owner's that anybody can take does not help",
      { sender: { id: '7', name: 'owner', role: 'participant' } },
      ['main'],
    ],
    [
      'people who are one see what one of them sees',
      { sender: ann, session: { identityLinks: { both: ['telegram:1', 'telegram:2'] } } },
      ['main', child.key, other, group, stranger],
    ],
  ])('B4: %s', async (_, options, expected) => {
    expect(await listed(options)).toEqual([...expected].sort());
    for (const key of [other, stranger, group, child.key]) {
      const { answer } = await call('sessions_history', { sessionKey: key }, options);
      if (expected.includes(key)) expect(answer).toMatchObject({ sessionKey: key });
      else expect(answer.text).toMatch(noSuch);
    }
  });

  test('A10/101, 104: lists by kind and limit, newest first, with the last messages', async () => {
    expect((await call('sessions_list', { kinds: ['group'] })).answer).toMatchObject({ count: 1, sessions: [{ kind: 'group' }] });
    const { answer } = await call('sessions_list', { limit: 2, messageLimit: 1 });
    expect(answer).toMatchObject({
      count: 2,
      sessions: [
        { key: stranger, messages: [{ role: 'assistant', content: [{ text: 'you said: elsewhere' }] }] },
        { key: group, messages: [{ role: 'assistant' }] },
      ],
    });
    expect((await call('sessions_list', { limit: 0 })).answer.text).toMatch(/limit: .*at least 1/);
    expect((await call('sessions_list', { sort: 'age' })).answer.text).toMatch(/"sort" is not an argument/);
  });

  test("A10/112: where files are is the owner's to know", async () => {
    const session = { store: '/srv/sessions.json' };
    const pathOf = async (sender: Sender) =>
      ((await call('sessions_list', {}, { sender, session })).answer.sessions as { transcriptPath?: string }[])[0]
        ?.transcriptPath;
    expect(await pathOf(owner)).toMatch(/^\/srv\//);
    expect(await pathOf(ann)).toBeUndefined();
  });

  test('A10/115: history ends with what is recorded now, however late the index is', async () => {
    const late = { get: () => undefined, newestFirst: () => [] };
    const scope = scopeOf(owner);
    const tool = sessionTools({ config: configSchema.parse({}), ports, view: late }).of(scope)[1];
    const given = { callId: 'c', arguments: { sessionKey: 'main', limit: 2 }, scope };
    const end = await tool?.run(given, new AbortController().signal);
    expect(JSON.parse(end?.text ?? '')).toMatchObject({
      sessionKey: 'main',
      messages: [{ role: 'user' }, { role: 'assistant' }],
    });
  });
});

describe('sessions_send', () => {
  const there = keyOf('telegram:dm:2');
  const send = (given: object, options?: Options) =>
    call('sessions_send', { sessionKey: there, message: 'hello', ...given }, options);
  beforeEach(() => say(there, 'first'));

  test('A10/119: waits for the answer, and is sent in the name of the session that sends', async () => {
    const { outcome, answer } = await send({});
    expect([outcome, answer]).toEqual(['ok', { runId: expect.any(String), status: 'ok', reply: 'you said: hello' }]);
    const [, sent] = await messagesIn(there);
    expect(sent).toMatchObject({ text: 'hello', sender: { id: home, role: 'program', principal: 'telegram:7' } });
    expect(view.get(there)?.participants).toEqual(['telegram:7']);
  });
  test('A10/118: with 0 it does not wait', async () => {
    host.hold();
    expect((await send({ timeoutSeconds: 0 })).answer).toMatchObject({ status: 'accepted' });
  });
  test('A10/120: time that is up ends the wait and not the run', async () => {
    host.hold();
    const { outcome, answer } = await send({ timeoutSeconds: 0.05 });
    expect([outcome, answer]).toMatchObject(['ok', { status: 'timeout', error: { code: 'timeout' } }]);
    await host.release();
    expect((await messagesIn(there)).map(({ text }) => text)).toEqual(['first', 'hello']);
  });
  test.each([
    ['as long as it is told', { timeoutSeconds: 7 }, {}, 7_000],
    ['no longer than a tool may take, with something left to say so', { timeoutSeconds: 600 }, { timeoutMs: 30_000 }, 29_000],
    ['not at all where a tool has no time to wait', { timeoutSeconds: 600 }, { timeoutMs: 500 }, 0],
  ])('A10/118, 120: waits %s', async (_, given, tools, waitMs) => {
    host.hold();
    const waits: number[] = [];
    // The only sleep of the call is its wait, which ends at once.
    const sleep = async (ms: number): Promise<void> => void waits.push(ms);
    ports = { ...ports, clock: { ...systemClock, sleep } };
    expect((await send(given, { tools })).answer).toMatchObject({ status: 'timeout' });
    expect(waits).toEqual([waitMs]);
  });
  test('A10/121: a run that fails is told as such', async () => {
    expect(await send({ message: 'fail now' })).toMatchObject({
      outcome: 'error',
      answer: { status: 'error', error: { code: 'model_error', message: 'the model would not' } },
    });
  });
  test('I6: made once more, it finds what it has sent and its answer', async () => {
    const first = await send({});
    expect(await send({})).toEqual(first);
    expect(await messagesIn(there)).toHaveLength(2);
    await send({}, { callId: 't1.1.1' });
    expect(await messagesIn(there)).toHaveLength(3);
  });
  test('a wait ends with its turn', async () => {
    host.hold();
    const stop = new AbortController();
    const waiting = send({}, { signal: stop.signal });
    await vi.waitFor(async () => expect(await messagesIn(there)).toHaveLength(2));
    stop.abort();
    await expect(waiting).rejects.toThrow();
  });
  test.each<[string, object, Options, RegExp]>([
    ['to itself', { sessionKey: 'main' }, {}, /this very conversation/],
    ['to nobody', { sessionKey: keyOf('nobody') }, {}, noSuch],
    ['out of reach', {}, { visibility: 'tree' }, noSuch],
    ['where the sender takes no part', {}, { sender: ann }, noSuch],
    [
      'where nothing may be sent (A9/98)',
      {},
      { session: { sendPolicy: { default: 'deny' } } },
      /session.sendPolicy.default denies it/,
    ],
  ])('is refused %s, and sends nothing', async (_, given, options, expected) => {
    expect((await send(given, options)).answer.text).toMatch(expected);
    expect(await messagesIn(there)).toHaveLength(1);
  });
  test('B4: who reaches only what it began itself need not ask; who reaches nobody has no such tool', () => {
    const offered = (visibility: string) =>
      toolsOf({ visibility })
        .of(scopeOf(owner))
        .find(({ name }) => name === 'sessions_send')?.usual;
    expect(['self', 'tree', 'agent', 'all'].map(offered)).toEqual([undefined, 'allow', 'ask', 'ask']);
  });
});

describe('sessions_spawn', () => {
  const spawn = (given: object = {}, options?: Options) => call('sessions_spawn', { task: 'count', ...given }, options);
  const runOf = (options: Options = {}) => {
    const { sender = owner, tools = {}, callId = 't1.1.0', ...change } = options;
    const scope = scopeOf(sender, change);
    const tool = toolsOf(tools)
      .of(scope)
      .find(({ name }) => name === 'sessions_spawn');
    return (given?: unknown) => tool?.spawns?.({ callId, scope, ...(given !== undefined && { arguments: given }) });
  };

  test('B3: begins a run at once, as it was said before; its answer goes back to where it came from', async () => {
    expect(runOf()({ task: 'count' })).toEqual({ key: child.key, runId: child.runId });
    expect((await spawn()).answer).toEqual({ status: 'accepted', runId: child.runId, sessionKey: child.key });
    await vi.waitFor(async () => expect(await messagesIn(child.key)).toHaveLength(1));
    expect(await messagesIn(child.key)).toMatchObject([
      {
        ...{ messageId: child.runId, text: 'count', sender: { id: home, role: 'program', principal: 'telegram:7' } },
        deliverTo: { channel: 'session', to: home, threadId: child.runId, accountId: '3' },
      },
    ]);
    await vi.waitFor(() => expect(view.get(child.key)).toBeDefined());
    expect(view.get(child.key)).toMatchObject({
      source: { kind: 'subagent', interactive: false, ids: { parent: home, person: 'telegram:7' } },
      participants: [],
    });
  });
  test('I6: made once more, it is the same run', async () => {
    await spawn({ label: 'a' });
    await spawn({ label: 'a' });
    await vi.waitFor(() => expect(host.state(child.key).machine.context.completedTurns).toBe(1));
    expect(await messagesIn(child.key)).toHaveLength(1);
  });
  const openai = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-5', 'gpt-5-mini'] };
  test.each([
    ['that is named', { model: 'mini' }, {}, 'openai/gpt-5-mini'],
    ['of the session that begins it', {}, { model: 'openai/gpt-5' }, 'openai/gpt-5'],
    ['that is usual', {}, {}, undefined],
  ])('B3: it has the model %s, and its label', async (_, given, change, expected) => {
    const config = configSchema.parse({ model: { providers: { openai }, aliases: { mini: 'openai/gpt-5-mini' } } });
    const scope = scopeOf(owner, change);
    const tool = sessionTools({ config, ports, view })
      .of(scope)
      .find(({ name }) => name === 'sessions_spawn');
    await tool?.run(
      { callId: 't1.1.0', arguments: { task: 'x', label: 'counter', ...given }, scope },
      new AbortController().signal,
    );
    await vi.waitFor(() => expect(host.state(child.key).machine.context.completedTurns).toBe(1));
    expect(host.state(child.key).machine.context.settings).toEqual({
      displayName: 'counter',
      ...(expected && { model: expected }),
    });
  });
  test('A11/125: does not begin once its turn was stopped', async () => {
    const { publish } = ports.commands;
    const published: string[] = [];
    const stop = new AbortController();
    ports.commands.publish = (message) => {
      published.push(message.data.type);
      stop.abort();
      return publish.call(ports.commands, message);
    };
    await expect(spawn({ label: 'a' }, { signal: stop.signal })).rejects.toThrow();
    expect(published).toEqual(['open_session']);
  });

  test.each<[string, object, Options, RegExp]>([
    ['without a task', { task: '' }, {}, /task: is empty/],
    ['with a model that nobody knows', { model: 'nosuch/model' }, {}, /model: "nosuch\/model" is not known/],
    [
      'while as many are at work as may be',
      {},
      { tools: { spawn: { count: 1 } }, spawned: [{ key: 'k', runId: 'r' }] },
      /1 sub-agents are at work/,
    ],
  ])('is refused %s: then nothing is recorded as begun, and nothing begins', async (_, given, options, expected) => {
    expect(runOf(options)({ task: 'count', ...given })).toBeUndefined();
    expect((await spawn(given, options)).answer.text).toMatch(expected);
    expect(await messagesIn(child.key)).toEqual([]);
  });
  test('B3: a run that is recorded as begun counts once', async () => {
    const options = { tools: { spawn: { count: 1 } }, spawned: [{ key: child.key, runId: child.runId }] };
    expect((await spawn({}, options)).answer).toMatchObject({ status: 'accepted' });
  });
  test.each([
    [0, 0, false],
    [1, 0, true],
    [1, 1, false],
    [2, 1, true],
    [2, 2, false],
  ])('B3: with depth %i a session that is %i deep may begin others: %s', (depth, level, expected) => {
    let key = home;
    for (let at = 0; at < level; at++) key = spawnOf(key, 'call').key;
    expect(depthOf(key)).toBe(level);
    const names = toolsOf({ spawn: { depth } })
      .of(scopeOf(owner, { key }))
      .map(({ name }) => name);
    expect(names.includes('sessions_spawn')).toBe(expected);
  });
});

describe('keys of sub-agents', () => {
  const inner = spawnOf(child.key, 'call');
  test.each<[string, SessionKey, SessionKey, boolean]>([
    ["one's own", home, child.key, true],
    ['its own', home, inner.key, true],
    ['from below', child.key, inner.key, true],
    ['not itself', home, home, false],
    ['not upwards', inner.key, child.key, false],
    ["not another's", keyOf('telegram:dm:2'), child.key, false],
    ['not beside', spawnOf(home, 'other').key, inner.key, false],
  ])('B4: the tree below a session shows in them: %s', (_, root, key, expected) => expect(belowOf(root)(key)).toBe(expected));
  test('I6: are the same for the same call, and others for another call or session', () => {
    expect(spawnOf(home, 't1.1.0')).toEqual(child);
    expect(new Set([child, spawnOf(home, 't1.1.1'), spawnOf(keyOf('a'), 't1.1.0')].map(({ runId }) => runId)).size).toBe(3);
  });
});
