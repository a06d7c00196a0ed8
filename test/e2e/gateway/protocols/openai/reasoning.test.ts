import { describe, expect, test } from 'vitest';
import { createModels } from '../../../../../shared/adapters/model/create.ts';
import { configSchema } from '../../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../../shared/kit/clock.ts';
import {
  type Answer,
  anthropic,
  openai as compatible,
  type Dialect,
  startProvider,
  stream,
} from '../../../../support/provider-server.ts';
import { startWhole } from '../../../system/whole.ts';
import { afterwards } from '../../setup.ts';
import { clientFor, readChunks, user } from '../openai-rig.ts';

/** What a model thinks, where it ends, and how strict its tools are: over the wire formats of both kinds of providers. */

const start = async (wire: Dialect, ...answers: [Answer, ...Answer[]]) => {
  const provider = await startProvider(...answers);
  afterwards(() => provider.close());
  const fake = { kind: wire.kind, baseUrl: provider.url };
  const config = configSchema.parse({ agent: { model: 'fake/tiny' }, model: { providers: { fake } } });
  const whole = await startWhole({ model: createModels(config, {}, systemClock)() });
  return { whole, provider, openai: clientFor(whole.gateways[0]?.url ?? '') };
};
const tools = [
  {
    type: 'function' as const,
    function: { name: 'get_weather', description: 'x', parameters: { type: 'object', properties: {} }, strict: true },
  },
];
const calling = (wire: Dialect, signature?: string): Answer =>
  stream(wire.begin(), wire.thought('A city. ', signature), wire.call(0, 'get_weather', '{}'), wire.end('calls'));
const answering = (wire: Dialect): Answer =>
  stream(wire.begin(), wire.thought('It is warm.'), wire.text('20 °C'), wire.end('stop'));

/** A call of the program's tool, its result, and the answer. */
const talk = async ({ openai }: Awaited<ReturnType<typeof start>>, more: object = {}) => {
  const asked = [user('warm?')];
  const first = await openai.chat.completions.create({ model: 'natter', messages: asked, tools, ...more }).withResponse();
  const message = first.data.choices[0]?.message;
  const [call] = message?.tool_calls ?? [];
  const result = { role: 'tool' as const, tool_call_id: call?.id ?? '', content: '20' };
  const messages = [...asked, ...(message ? [message] : []), result];
  const second = await openai.chat.completions.create({ model: 'natter', messages, tools, ...more });
  return { key: decodeURIComponent(first.response.headers.get('x-natter-session') ?? ''), first: message, second };
};

describe('what a model thinks', () => {
  test('signed: it is recorded, goes back to its provider with the calls, and is shown to those who ask', async () => {
    const rig = await start(anthropic, calling(anthropic, 'sig-1'), answering(anthropic));
    const { key, first, second } = await talk(rig, { include_reasoning: true });
    expect(first).toMatchObject({ reasoning_content: 'A city. ', tool_calls: [{ function: { name: 'get_weather' } }] });
    expect(second.choices[0]?.message).toMatchObject({ content: '20 °C', reasoning_content: 'It is warm.' });
    const [step] = await rig.whole.eventsOf(key, 'model_step');
    expect(step?.reasoning).toEqual([{ text: 'A city. ', signature: 'sig-1' }]);
    const sent = rig.provider.requests[1]?.body.messages.find(({ role }: { role: string }) => role === 'assistant');
    expect(sent.content.map(({ type }: { type: string }) => type)).toEqual(['thinking', 'tool_use']);
    expect(sent.content[0]).toMatchObject({ thinking: 'A city. ', signature: 'sig-1' });
  });

  test.each([compatible, anthropic])('$kind, not signed: nobody asked, so it is neither recorded nor sent back', async (wire) => {
    const rig = await start(wire, calling(wire), answering(wire));
    const { key, first, second } = await talk(rig);
    expect(second.choices[0]?.message.content).toBe('20 °C');
    expect(first).not.toHaveProperty('reasoning_content');
    for (const step of await rig.whole.eventsOf(key, 'model_step')) expect(step).not.toHaveProperty('reasoning');
    expect(JSON.stringify(rig.provider.requests[1]?.body)).not.toContain('A city.');
  });

  test('a response shows it as items, whole, streamed and later, if it was asked for', async () => {
    const rig = await start(compatible, answering(compatible));
    const body = { model: 'natter', input: 'warm?', reasoning: { effort: 'high' as const, summary: 'auto' as const } };
    const response = await rig.openai.responses.create(body);
    const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'It is warm.' }] };
    expect(response.output).toMatchObject([{ type: 'message' }, thought]);
    expect((await rig.openai.responses.retrieve(response.id)).output).toEqual(response.output);
    expect(rig.provider.requests[0]?.body.reasoning_effort).toBe('high');
    const done = [];
    for await (const event of await rig.openai.responses.create({ ...body, stream: true }))
      if (event.type === 'response.output_item.done') done.push(event.item);
    expect(done).toMatchObject([{ type: 'message' }, thought]);
    const plain = await rig.openai.responses.create({ model: 'natter', input: 'warm?' });
    expect(plain.output.map(({ type }) => type)).toEqual(['message']);
  });
});

test.each([compatible, anthropic])(
  '$kind: an answer that ends at its limit says so, in both calls, whole and streamed',
  async (wire) => {
    const rig = await start(wire, stream(wire.begin(), wire.text('Once upon'), wire.end('length', { input: 3, output: 2 })));
    const chat = { model: 'natter', messages: [user('a story')], max_tokens: 2 };
    const whole = await rig.openai.chat.completions.create(chat);
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Once upon' } });
    const { chunks, text } = await readChunks(await rig.openai.chat.completions.create({ ...chat, stream: true }));
    expect([text, chunks.at(-1)?.choices[0]?.finish_reason]).toEqual(['Once upon', 'length']);
    const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    const body = { model: 'natter', input: 'a story', max_output_tokens: 2 };
    const response = await rig.openai.responses.create(body);
    expect(response).toMatchObject({ ...cut, output_text: 'Once upon' });
    expect(await rig.openai.responses.retrieve(response.id)).toMatchObject(cut);
    expect(await rig.openai.responses.stream(body).finalResponse()).toMatchObject(cut);
    expect(rig.provider.requests.at(-1)?.body.max_tokens).toBe(2);
  },
);

test('a strict tool is strict at the provider, and the response says it', async () => {
  const rig = await start(compatible, answering(compatible));
  const [{ function: named } = { function: { name: '', parameters: {} } }] = tools;
  const strict = { type: 'function' as const, name: named.name, parameters: named.parameters, strict: true };
  const response = await rig.openai.responses.create({ model: 'natter', input: 'x', tools: [strict] });
  expect(response.tools).toMatchObject([{ name: 'get_weather', strict: true }]);
  const sent = rig.provider.requests[0]?.body.tools.find(({ function: f }: any) => f.name === 'get_weather');
  expect(sent.function.strict).toBe(true);
});
