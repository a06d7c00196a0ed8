import { PROTOCOL_VERSION } from '@ag-ui/core';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { pathOf } from '../setup.ts';
import { agentAt, endOf, shown, typesOf } from './agui-rig.ts';
import { framesOf, startTools, type Tools, writing } from './ui-rig.ts';

/** Issue 5: AG-UI 1.0, with its own client, unmodified. */

const textsIn = async ({ as }: Tools, key: string): Promise<string[]> =>
  (await as.owner('GET', pathOf(key, '/messages'))).body.messages.map(({ text }: { text: string }) => text);
/** The client writes of each refusal there. */
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

describe('a run', () => {
  test('answers the last message, in the session that the thread names', async () => {
    const tools = await startTools();
    const { agent, say } = agentAt(tools.url, 'owner', 'my-thread');
    const events = await say('hello', { runId: 'r1' });
    expect([...new Set(typesOf(events))]).toEqual([
      ...['RUN_STARTED', 'STEP_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      ...['STEP_FINISHED', 'RUN_FINISHED'],
    ]);
    expect(events[0]).toMatchObject({ threadId: 'my-thread', runId: 'r1', protocolVersion: PROTOCOL_VERSION });
    const { outcome, result, usage, ...end } = endOf(events);
    expect([outcome, end]).toMatchObject([{ type: 'success' }, { threadId: 'my-thread', runId: 'r1' }]);
    const key = result.sessionKey;
    expect(key).toMatch(/^agent:main:api:chat-/);
    const [step] = await tools.eventsOf(key, 'model_step');
    const { inputTokens, outputTokens, totalTokens } = step?.usage ?? {};
    expect(usage).toEqual([{ model: 'offline', inputTokens, outputTokens, totalTokens }]);
    await say('again');
    expect(shown(agent)).toEqual([
      ...[
        ['user', 'hello'],
        ['assistant', 'You said: hello'],
        ['user', 'again'],
        ['assistant', 'You said: again'],
      ],
    ]);
    expect(await textsIn(tools, key)).toEqual(['hello', 'You said: hello', 'again', 'You said: again']);
  });

  test('a session key is a thread; of a picture at an address the message says that it was there', async () => {
    const tools = await startTools();
    const { agent, run } = agentAt(tools.url, 'owner', 'agent:main:cli:desk');
    const image = { type: 'image' as const, source: { type: 'url' as const, value: 'https://example.org/a.png' } };
    agent.addMessage({ id: 'u', role: 'user', content: [{ type: 'text', text: 'what is this?' }, image] });
    endOf(await run());
    const said =
      'what is this?\n[Attached, not readable here: image; addresses are not fetched; send the file itself, as a data URL]';
    expect(await textsIn(tools, 'agent:main:cli:desk')).toEqual([said, `You said: ${said}`]);
  });

  test('what the program tells besides is remembered before the message, once', async () => {
    const tools = await startTools();
    const { say } = agentAt(tools.url, 'owner', 'agent:main:cli:told');
    const context = [{ description: 'The page', value: 'prices' }];
    await say('one', { context });
    await say('two', { context });
    expect(await textsIn(tools, 'agent:main:cli:told')).toEqual([
      ...['[What the program tells]\nThe page: prices', 'one', 'You said: one', 'two', 'You said: two'],
    ]);
  });

  test('I2: the same run twice, at another replica and after its end too, is one run with the same events', async () => {
    const tools = await startTools({ gateways: 2, rules: [] });
    const key = 'agent:main:cli:twice';
    const text = `${writing('one')} [[think 300]] once`;
    const at = (gateway: number) => agentAt(tools.gateways[gateway]?.url ?? '', 'owner', key).say(text, { runId: 'r1' });
    const [first, second] = await Promise.all([at(0), at(1)]);
    const third = await at(1);
    const without = (events: typeof first) => events.filter(({ type }) => type !== 'TEXT_MESSAGE_CONTENT');
    expect(without(second)).toEqual(without(first));
    expect(without(third)).toEqual(without(first));
    expect(await tools.eventsOf(key, 'user_message')).toHaveLength(1);
    const other = agentAt(tools.url, 'owner', key).say('something else', { runId: 'r1' });
    await expect(other).rejects.toMatchObject({ status: 400, message: expect.stringContaining('cannot be changed') });
  });

  test('a client that disconnects stops nothing, and has all of it when it comes back with the same run', async () => {
    const tools = await startTools();
    const key = 'agent:main:cli:back';
    const { agent, run, events } = agentAt(tools.url, 'owner', key);
    const message = { id: 'u', role: 'user' as const, content: '[[steps 2]] [[think 900]] one two three' };
    agent.addMessage(message);
    const left = run({ runId: 'r1' }).catch(() => null);
    await tools.until(() => expect(typesOf(events)).toContain('TEXT_MESSAGE_CONTENT'));
    agent.abortRun();
    await left;
    const back = agentAt(tools.url, 'owner', key, [message]);
    endOf(await back.run({ runId: 'r1' }));
    expect(shown(back.agent).slice(1)).toEqual([
      ['assistant', 'step 1 of 2'],
      ['assistant', 'You said: one two three'],
    ]);
    expect(await tools.eventsOf(key, 'user_message')).toHaveLength(1);
  });

  test('a call is told with its arguments and its result', async () => {
    const tools = await startTools({ rules: [] });
    const { agent, say } = agentAt(tools.url, 'owner', 'calls');
    const events = await say(`${writing('one')} done?`);
    expect(typesOf(events).filter((type) => type.startsWith('TOOL'))).toEqual([
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'],
    ]);
    expect(shown(agent).slice(1)).toEqual([
      ['assistant', 'step 1 of 2', ['write_file']],
      ['tool', expect.stringContaining('note.md')],
      ['assistant', expect.stringMatching('^You said: done')],
    ]);
  });

  test('that fails ends with its error, one that is stopped as cancelled', async () => {
    const tools = await startTools();
    const { events, say } = agentAt(tools.url, 'owner', 'agent:main:cli:failing');
    await say('[[steps 2]] [[fail model_down]]').catch(() => null);
    expect(events.at(-1)).toMatchObject({
      ...{ type: 'RUN_ERROR', code: 'model_down', message: 'the message asked the offline model to fail' },
    });
    const running = say('[[think 60000]] a b');
    await tools.until(async () => expect(await tools.eventsOf('agent:main:cli:failing', 'turn_started')).toHaveLength(2));
    await tools.as.owner('POST', pathOf('agent:main:cli:failing', '/stop'), { body: {} });
    expect(endOf(await running).outcome).toEqual({ type: 'cancelled' });
  });
});

describe('what is refused', () => {
  test('A8/89: a thread of others is answered like one that is not there', async () => {
    const tools = await startTools();
    await tools.say('telegram:1', 'hi');
    await tools.settled();
    const ask = (thread: string) => agentAt(tools.url, 'eve', thread).say('hello');
    const missing = { status: 404, message: expect.stringContaining('not yours to see') };
    await expect(ask('agent:main:telegram:default:dm:1')).rejects.toMatchObject(missing);
    await expect(ask('agent:main:telegram:group:nowhere')).rejects.toMatchObject(missing);
    await expect(ask('words-of-her-own')).rejects.toMatchObject({ status: 403 });
  });

  const said = { id: 'm', role: 'user', content: 'hello' };
  const answered = { interruptId: 'x', status: 'resolved', payload: { approved: true } };
  test.each<[string, object, string, string]>([
    ['no thread', { threadId: '' }, 'threadId', 'invalid'],
    ['a thread that is no key', { threadId: 'a b:c' }, 'threadId', 'invalid'],
    ['no run', { runId: undefined }, 'runId', 'invalid'],
    ['no list of messages', { messages: undefined }, 'messages', 'invalid'],
    ['an assistant last', { messages: [said, { ...said, role: 'assistant' }] }, 'messages.1.role', 'invalid'],
    ['no text', { messages: [{ ...said, content: ' ' }] }, 'messages.0.content', 'invalid'],
    ['only a picture', { messages: [{ ...said, content: [{ type: 'image' }] }] }, 'messages.0.content', 'invalid'],
    ['a tool without a name', { tools: [{ description: '' }] }, 'tools.0.name', 'invalid'],
    ['a context that is none', { context: [{ description: 'x' }] }, 'context.0.value', 'invalid'],
    ['an answer without a word', { resume: [{ ...answered, payload: {} }] }, 'resume.0.payload.approved', 'invalid'],
    ['an answer of no kind', { resume: [{ ...answered, status: 'later' }] }, 'resume.0.status', 'invalid'],
    ['two answers', { resume: [answered, answered] }, 'resume', 'invalid'],
  ])('400: %s', async (_, change, field, code) => {
    const tools = await startTools();
    const body = { threadId: 't', runId: 'r', messages: [said], tools: [], context: [], state: {}, ...change };
    const refused = await tools.as.owner('POST', '/v1/agui', { body });
    expect(refused).toMatchObject({ status: 400, body: { field, code } });
  });

  test('a gateway that stops ends the stream with an error', async () => {
    const tools = await startTools({ gateways: 2 });
    const running = tools.as.owner('POST', '/v1/agui', {
      body: { threadId: 'agent:main:cli:stop', runId: 'r', messages: [{ ...said, content: '[[think 1500]] one two' }] },
    });
    await tools.until(async () => expect(await tools.eventsOf('agent:main:cli:stop', 'turn_started')).toHaveLength(1));
    await tools.gateways[0]?.stop(1_000);
    const frames = framesOf((await running).text);
    expect(JSON.parse(frames[0] ?? '{}')).toMatchObject({ type: 'RUN_STARTED' });
    expect(JSON.parse(frames.at(-1) ?? '{}')).toMatchObject({ type: 'RUN_ERROR', code: 'unavailable' });
  });
});
