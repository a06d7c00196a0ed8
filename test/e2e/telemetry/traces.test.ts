import { expect, test, vi } from 'vitest';
import { fakeTools } from '../../support/fake-tools.ts';
import { startWhole } from '../system/whole.ts';
import { failed, type Span, spanKinds, startCollector } from './collector.ts';
import { traceTo } from './tracing.ts';

/** One turn through all services, as its traces show it. */
const key = 'agent:main:main';
const tools = () => fakeTools({ name: 'look' }, { name: 'fall', run: async () => ({ outcome: 'error', text: 'no' }) });

const setUp = async () => {
  const collector = await startCollector();
  const env = { OTEL_SERVICE_NAME: 'natter-test', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%2Cb' };
  await traceTo(collector.url, env);
  const whole = await startWhole({ tools: tools() });
  const traceWith = async (name: string): Promise<Span[]> => {
    await vi.waitFor(() => expect(collector.named(name)).not.toEqual([]));
    const [span] = collector.named(name) as [Span];
    return collector.traceOf(span);
  };
  return { collector, whole, traceWith };
};
const only = (trace: readonly Span[], name: string): Span => {
  const found = trace.filter((span) => span.name === name);
  expect(found.length).toBeGreaterThan(0);
  return found[0] as Span;
};

test('one trace has all that a message led to, from the request to the delivery', async () => {
  const { collector, whole, traceWith } = await setUp();
  await whole.say('telegram:7', '[[tool look {"secret": "in the arguments"}]] what do you see?');
  const { text } = await whole.delivered();
  const trace = await traceWith('deliver telegram');
  await vi.waitFor(() => expect(collector.traceOf(trace[0] as Span).map(({ name }) => name)).toContain('POST /v1/inbound'));
  await vi.waitFor(() => expect(collector.named('invoke_agent main')).toHaveLength(1));

  const commits = {
    'commit assistant_message': { 'deliver telegram': {} },
    'commit prompt_changed': {},
    'commit tool_result': {},
  };
  expect(collector.treeOf(collector.traceOf(trace[0] as Span))).toEqual({
    'POST /v1/inbound': {
      'publish inbound': {
        'process inbound': {
          'publish commands': {
            'process commands': {
              'commit turn_started': {
                'invoke_agent main': { 'chat offline': {}, 'execute_tool look': {}, ...commits },
              },
            },
          },
        },
      },
    },
  });
  expect(text).toContain('look is done');
  const whatIsSaid = /what do you see|in the arguments|You said|look is done|telegram:7|agent:main/;
  for (const body of collector.bodies) expect(body).not.toMatch(whatIsSaid);
});

test('the spans are those of the conventions: HTTP, messaging, generative AI', async () => {
  const { whole, traceWith } = await setUp();
  await whole.say('telegram:7', '[[tool look {"a": 1}]] hello');
  const { key } = await whole.delivered();
  const trace = await traceWith('invoke_agent main');
  const sessionId = (await whole.commitsOf(key))[0]?.sessionId;
  const [call] = (await whole.eventsOf(key, 'model_step')).flatMap(({ calls = [] }) => calls);

  const server = only(trace, 'POST /v1/inbound');
  expect(server.kind).toBe(spanKinds.server);
  expect(server.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/inbound',
    'http.response.status_code': 202,
  });
  expect(server.resource).toMatchObject({ 'service.name': 'natter-test', 'deployment.environment.name': 'a,b' });

  const kinds = { 'publish commands': 'producer', 'process commands': 'consumer', 'publish inbound': 'producer' } as const;
  for (const [name, kind] of Object.entries(kinds)) {
    const span = only(trace, name);
    expect(span.kind).toBe(spanKinds[kind]);
    expect(span.attributes).toMatchObject({
      'messaging.system': 'nats',
      'messaging.operation.type': kind === 'producer' ? 'send' : 'process',
      'messaging.destination.name': name.split(' ')[1],
    });
  }
  expect(only(trace, 'invoke_agent main').attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': 'main',
    'gen_ai.conversation.id': sessionId,
    'gen_ai.request.model': 'offline',
  });
  const chat = only(trace, 'chat offline');
  expect(chat.kind).toBe(spanKinds.client);
  expect(chat.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'offline',
    'gen_ai.request.model': 'offline',
    'gen_ai.response.model': 'offline',
    'gen_ai.response.finish_reasons': ['tool_calls'],
    'gen_ai.usage.input_tokens': expect.any(Number),
    'gen_ai.usage.output_tokens': expect.any(Number),
  });
  expect(only(trace, 'execute_tool look').attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'look',
    'gen_ai.tool.call.id': call?.callId,
  });
});

test("a caller's trace goes on, and what is no trace is ignored", async () => {
  const { collector, whole } = await setUp();
  const post = (traceparent: string) =>
    whole.as.owner('POST', `/v1/sessions/${encodeURIComponent(key)}/messages?wait=5`, {
      body: { text: 'hello' },
      headers: { traceparent },
    });
  await post('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
  await post('00-nonsense');
  const name = 'POST /v1/sessions/:key/messages';
  await vi.waitFor(() => expect(collector.named(name)).toHaveLength(2));
  const [known, unknown] = collector.named(name) as [Span, Span];
  expect(known).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' });
  expect(unknown.parentSpanId ?? '').toBe('');
  const [commit] = await whole.commitsOf(key);
  expect(commit?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
});

test('a failure is the status of its span, by its code alone', async () => {
  const { whole, traceWith } = await setUp();
  await whole.say('telegram:7', '[[tool fall]] [[fail busy]] oh');
  const trace = await traceWith('invoke_agent main');
  expect(only(trace, 'execute_tool fall')).toMatchObject({ status: { code: failed, message: 'error' } });
  const step = trace.findLast(({ name, status }) => name === 'chat offline' && status.code === failed);
  expect(step).toMatchObject({ status: { message: 'busy' }, attributes: { 'error.type': 'busy' } });
});

test('a turn that waited is in the trace of its own message, and so is its delivery', async () => {
  const { collector, whole } = await setUp();
  await whole.say('telegram:7', '[[think 100]] first');
  await whole.say('telegram:7', '[[think 10]] second');
  await whole.delivered();
  await whole.delivered();
  await vi.waitFor(() => expect(collector.named('deliver telegram')).toHaveLength(2));
  const turns = collector.named('invoke_agent main');
  expect(new Set(turns.map(({ traceId }) => traceId)).size).toBe(2);
  for (const turn of turns) {
    const names = collector.traceOf(turn).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['POST /v1/inbound', 'deliver telegram']));
  }
});
