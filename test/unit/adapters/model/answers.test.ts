import { describe, expect, test } from 'vitest';
import type { ModelMessage, ToolSpec } from '../../../../shared/domain/prompt/model-request.ts';
import { anthropic, openai, stream } from '../../../support/provider-server.ts';
import { dialects, provide, take } from './rig.ts';

const tools: ToolSpec[] = [
  {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
];
const longId = (index: number): string => `${'t'.repeat(100)}.1.${index}`;
const conversation: ModelMessage[] = [
  { role: 'user', text: 'the weather?' },
  {
    role: 'assistant',
    text: 'Looking.',
    calls: [
      { callId: longId(0), tool: 'weather', arguments: '{"city":"Rome"}' },
      { callId: longId(1), tool: 'weather', arguments: '{"city":' },
    ],
  },
  { role: 'tool', callId: longId(0), tool: 'weather', outcome: 'ok', text: 'sunny' },
  { role: 'tool', callId: longId(1), tool: 'weather', outcome: 'denied', text: 'not today' },
  { role: 'assistant', text: '' },
  { role: 'user', text: ' ' },
];

test('what a model says to refuse is its answer, marked as that, and told once it is recorded', async () => {
  const refused = openai.text('x', ' y').replaceAll('"content":', '"refusal":');
  const { outcome, told } = await take(openai, await provide(stream(openai.begin(), refused, openai.end('stop'))));
  expect([outcome, told]).toMatchObject([{ kind: 'reply', text: 'x y', refused: true }, []]);
});

describe.each(dialects)('an answer of a provider (%s)', (_, wire) => {
  const { begin, text, thought, call, end } = wire;

  test('is told piece by piece, with the tokens that the provider counted', async () => {
    const server = await provide(stream(begin(), thought('hm'), text('Hel', 'lo'), end('stop', { input: 7, output: 2 })));
    const { outcome, told } = await take(wire, server);
    expect(outcome).toEqual({
      kind: 'reply',
      text: 'Hello',
      model: 'local/tiny',
      usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 },
    });
    expect(told).toEqual(['Hel', 'lo']);
  });

  test('has an estimate of the tokens where the provider counts none', async () => {
    const { outcome } = await take(wire, await provide(stream(begin(), text('Hello'), end('stop'))));
    expect(outcome).toMatchObject({ usage: { estimated: true, outputTokens: 2, inputTokens: expect.any(Number) } });
  });

  test('may be empty: delivery tells nobody', async () => {
    const { outcome, told } = await take(wire, await provide(stream(begin(), end('stop', { input: 7, output: 0 }))));
    expect(outcome).toMatchObject({ kind: 'reply', text: '' });
    expect(told).toEqual([]);
  });

  test.each<[string, string[], string]>([
    ['in fragments', ['{"ci', 'ty": "Ro', 'me"}'], '{"city": "Rome"}'],
    ['that are malformed', ['{"city": '], '{"city": '],
    ['that are no object', ['[1,', '2]'], '[1,2]'],
    ['with a forbidden name', ['{"__proto__": {"a": 1}}'], '{"__proto__": {"a": 1}}'],
    ['with text after them', ['{"city":"Rome"} and so on'], '{"city":"Rome"} and so on'],
    ['with spaces and order of their own', ['{ "b":1,"a" :2 }'], '{ "b":1,"a" :2 }'],
    ['of which there are none', [], '{}'],
  ])('calls a tool with the arguments as the model wrote them: %s', async (_, fragments, written) => {
    const server = await provide(stream(begin(), text('Looking.'), call(0, 'weather', ...fragments), end('calls')));
    const { outcome } = await take(wire, server, {}, { tools });
    expect(outcome).toMatchObject({ kind: 'continue', text: 'Looking.', calls: [{ tool: 'weather', arguments: written }] });
  });

  test('calls several tools, known or not, in the order of the model', async () => {
    const calls = [call(0, 'weather', '{"city":"Rome"}'), call(1, '__proto__', '{}'), call(2, 'weather', '{"city":"Oslo"}')];
    const { outcome } = await take(wire, await provide(stream(begin(), ...calls, end('calls'))), {}, { tools });
    expect(outcome).toMatchObject({
      kind: 'continue',
      text: '',
      calls: [
        { tool: 'weather', arguments: '{"city":"Rome"}' },
        { tool: '__proto__', arguments: '{}' },
        { tool: 'weather', arguments: '{"city":"Oslo"}' },
      ],
    });
  });

  test('asks with the key in a header, and a level of thinking both kinds know', async () => {
    const server = await provide(stream(begin(), text('ok'), end('stop')));
    await take(wire, server, { maxOutputTokens: 77 }, { thinkingLevel: 'high' });
    await take(wire, server, {}, { thinkingLevel: 'enormous' });
    await take(wire, server, {}, { thinkingLevel: 'xhigh' });
    const [high, odd, most] = server.requests;
    expect(high!.headers).toMatchObject(
      wire === openai ? { authorization: 'Bearer planted-key-4711' } : { 'x-api-key': 'planted-key-4711' },
    );
    expect(high!.body).toMatchObject({ stream: true, model: 'tiny', max_tokens: 77 });
    expect(JSON.stringify(high!.body)).toContain(wire === openai ? '"reasoning_effort":"high"' : '"effort":"high"');
    expect(JSON.stringify(odd!.body)).not.toContain('effort');
    expect(JSON.stringify(most!.body)).toMatch(/effort":"high"/);
  });

  test('passes on a bias of tokens where the provider has one, and asks no other', async () => {
    const server = await provide(stream(begin(), text('ok'), end('stop')));
    const { outcome } = await take(wire, server, {}, { settings: { logitBias: { 1734: -100 }, parallelCalls: true } });
    const [asked] = server.requests.map(({ body }) => body);
    if (wire === openai) {
      expect([outcome.kind, asked]).toMatchObject(['reply', { logit_bias: { 1734: -100 }, parallel_tool_calls: true }]);
    } else {
      expect([outcome, asked]).toMatchObject([{ kind: 'failed', code: 'setting_unsupported' }, undefined]);
    }
  });

  test('names the speakers where several people write', async () => {
    const server = await provide(stream(begin(), text('ok'), end('stop')));
    const said = (name: string, text: string): ModelMessage => ({ role: 'user', text, name });
    await take(wire, server, {}, { messages: [said('ann', 'one'), said('bob', 'two')] });
    await take(wire, server, {}, { messages: [said('ann', 'one'), said('ann', 'two')] });
    await take(wire, server, {}, { messages: [said('natter', 'greet the user'), said('api', 'hi')] });
    const [group, alone, greeted] = server.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(group).toMatch(/"ann: one".*"bob: two"/);
    expect(alone).toMatch(/"one".*"two"/);
    expect(greeted, "Natter's own greeting is no second person").toMatch(/"greet the user".*"hi"/);
  });
});

const ask = async (wire: typeof openai) => {
  const server = await provide(stream(wire.begin(), wire.text('ok'), wire.end('stop')));
  await take(wire, server, {}, { messages: conversation, tools });
  return server.requests[0]!.body;
};

describe('a conversation in the words of the provider: calls with short ids, results beside them', () => {
  test('openai-compatible', async () => {
    const body = await ask(openai);
    const called = (index: number, written: string) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name: 'weather', arguments: written },
    });
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'the weather?' },
      {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: [called(1, '{"city":"Rome"}'), called(2, '{"malformed":"{\\"city\\":"}')],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'call_2', content: 'denied: not today' },
      { role: 'user', content: '(nothing)' },
    ]);
    expect(body.tools).toEqual([{ type: 'function', function: tools[0] }]);
  });

  test('anthropic', async () => {
    const body = await ask(anthropic);
    expect(body.system).toMatchObject([{ type: 'text', text: 'Be brief.' }]);
    expect(body.messages).toMatchObject([
      { role: 'user', content: [{ text: 'the weather?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'call_1', input: { city: 'Rome' } },
          { type: 'tool_use', id: 'call_2', input: { malformed: '{"city":' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' },
          { type: 'tool_result', tool_use_id: 'call_2', content: 'denied: not today', is_error: true },
          { type: 'text', text: '(nothing)' },
        ],
      },
    ]);
    expect(body.tools).toMatchObject([{ name: 'weather', input_schema: tools[0]!.parameters }]);
  });
});

describe('what the provider says of tokens and money', () => {
  test.each<[object, object]>([
    [
      { input: 7, output: 2, cost: 0.000_35 },
      { inputTokens: 7, outputTokens: 2, totalTokens: 9, costUsd: 0.000_35 },
    ],
    [
      { input: 7, output: 2, cost: -1 },
      { inputTokens: 7, outputTokens: 2, totalTokens: 9 },
    ],
    [
      { input: 7, output: -2 },
      { inputTokens: 7, outputTokens: 0, totalTokens: 5 },
    ],
    [{ input: 7.5, output: 2 }, { estimated: true }],
    [{ input: 0, output: 0 }, { estimated: true }],
  ])('%j', async (reported, usage) => {
    const server = await provide(stream(openai.begin(), openai.text('ok'), openai.end('stop', reported as never)));
    expect((await take(openai, server)).outcome).toMatchObject({ usage });
  });
});
