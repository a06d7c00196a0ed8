import { describe, expect, test } from 'vitest';
import { ProviderEmbeddings } from '../../../../../shared/adapters/model/embeddings.ts';
import { configSchema } from '../../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../../shared/kit/clock.ts';
import { onceForFile } from '../../../../support/afterwards.ts';
import { startProvider, status } from '../../../../support/provider-server.ts';
import { startWhole } from '../../../system/whole.ts';
import { afterwards, pathOf } from '../../setup.ts';
import { clientFor, failureOf, user } from '../openai-rig.ts';

/** What the official client does with responses and conversations after the answer, and with embeddings. Each test has sessions of its own. */

const vectors = [
  [0.5, -1],
  [0.25, 2],
];
const system = onceForFile(async () => {
  const answer = { data: vectors.map((embedding) => ({ embedding })), usage: { prompt_tokens: 7, total_tokens: 7 } };
  const limited = status(
    429,
    { error: { message: 'slow down, sk-0123456789abcdefghij', type: 'rate_limit_error' } },
    { 'retry-after': '7' },
  );
  const noTokens = status(400, { error: { message: 'tokens are not taken', type: 'invalid_request_error' } });
  const one = status(200, { data: answer.data.slice(0, 1), usage: answer.usage });
  const provider = await startProvider(status(200, answer), status(200, answer), limited, one, status(200, answer), noTokens);
  afterwards(() => provider.close());
  const providers = {
    fake: { kind: 'openai-compatible', baseUrl: provider.url },
    claude: { kind: 'anthropic', baseUrl: provider.url },
  };
  const config = configSchema.parse({ agent: { model: 'fake/tiny' }, model: { providers } });
  const embeddings = new ProviderEmbeddings(() => config, {}, systemClock);
  const whole = await startWhole({ embeddings });
  const url = whole.gateways[0]?.url ?? '';
  return { whole, url, provider, openai: clientFor(url) };
});
const textsIn = async (key: string): Promise<string[]> => {
  const { body } = await system().whole.as.owner('GET', pathOf(key, '/messages'));
  return body.messages.map(({ text }: { text: string }) => text);
};

describe('in the background', () => {
  const asked = { model: 'natter', background: true } as const;

  test('a response comes once its run is recorded, and its answer is read later', async () => {
    const { openai } = system();
    const begun = await openai.responses.create({ ...asked, input: '[[think 60000]] slow' });
    expect(begun).toMatchObject({ background: true, status: 'in_progress', output: [], usage: null });
    expect((await openai.responses.cancel(begun.id)).status).toBe('cancelled');
    const { id, conversation } = await openai.responses.create({ ...asked, input: 'hello' });
    const read = () => openai.responses.retrieve(id);
    await expect.poll(async () => (await read()).output_text).toBe('You said: hello');
    expect(await read()).toMatchObject({ status: 'completed', background: null, conversation });
  });

  test('the same key is the same response, which has its answer by then; a stream has it as ever', async () => {
    const { openai } = system();
    const again = { headers: { 'Idempotency-Key': 'in-the-background' } };
    const { id } = await openai.responses.create({ ...asked, input: 'once' }, again);
    await expect.poll(async () => (await openai.responses.retrieve(id)).status).toBe('completed');
    const repeated = await openai.responses.create({ ...asked, input: 'once' }, again);
    expect(repeated).toMatchObject({ id, status: 'completed', output_text: 'You said: once' });
    const texts: string[] = [];
    for await (const event of await openai.responses.create({ ...asked, input: 'live', stream: true }))
      if (event.type === 'response.output_text.done') texts.push(event.text);
    expect(texts).toEqual(['You said: live']);
  });
});

describe('embeddings', () => {
  test('come from the provider, in the form that is asked for; its errors are told without what it says of keys', async () => {
    const { openai, provider } = system();
    const asked = { model: 'text-embedding-3-small', input: ['a', 'b'], dimensions: 2 };
    // The client asks for base64 by itself, and reads it.
    const { data, usage } = await openai.embeddings.create(asked);
    expect(data.map(({ embedding }) => embedding)).toEqual(vectors);
    expect(usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
    expect(provider.requests.at(-1)).toMatchObject({ path: '/v1/embeddings', body: { ...asked, encoding_format: 'float' } });
    const floats = await openai.embeddings.create({ ...asked, model: 'fake/large', encoding_format: 'float' });
    expect([floats.data[1]?.embedding, provider.requests.at(-1)?.body.model]).toEqual([[0.25, 2], 'large']);
    const limited = await failureOf(openai.embeddings.create(asked));
    expect(limited).toMatchObject({ status: 429, code: 'rate_limit_exceeded', message: expect.stringContaining('slow down') });
    expect(limited.message).not.toContain('sk-0123');
    expect(limited.headers?.get('retry-after')).toBe('7');
  });

  test('are of lists of tokens too, which go to the provider as they are; it may refuse them', async () => {
    const { openai, provider } = system();
    const embedded = async (input: number[] | number[][]) => {
      const { data } = await openai.embeddings.create({ model: 'fake/large', input });
      return [data.length, provider.requests.at(-1)?.body.input];
    };
    expect(await embedded([15339, 11])).toEqual([1, [[15339, 11]]]);
    expect(await embedded([[15339], [11, 1917]])).toEqual([2, [[15339], [11, 1917]]]);
    const refused = { status: 400, code: 'invalid', param: 'input', message: expect.stringContaining('tokens are not taken') };
    expect(await failureOf(embedded([1]))).toMatchObject(refused);
  });

  test('are refused by name where the provider embeds nothing, and for others than the owner', async () => {
    const { openai, url } = system();
    const ask = (more: object) => failureOf(openai.embeddings.create({ model: 'claude/x', input: 'a', ...more }));
    expect(await ask({})).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'model' });
    expect(await ask({ input: [] })).toMatchObject({ status: 400, param: 'input' });
    expect(await ask({ input: ['a', 1] })).toMatchObject({ status: 400, param: 'input' });
    expect(await ask({ input: [1.5] })).toMatchObject({ status: 400, param: 'input' });
    expect(await ask({ input: [''] })).toMatchObject({ status: 400, message: expect.stringContaining('is empty') });
    expect(await ask({ input: [[1, 2]] })).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'model' });
    const ofAnn = clientFor(url, 'ann').embeddings.create({ model: 'x', input: 'a' });
    expect(await failureOf(ofAnn)).toMatchObject({ status: 403, code: 'forbidden' });
  });
});

describe('a response, later', () => {
  test('lists what it answers, a page at a time, and goes when it is deleted', async () => {
    const { openai } = system();
    const { id, output } = await openai.responses.create({ model: 'natter', input: 'what is it?' });
    const { data } = await openai.responses.inputItems.list(id, { limit: 1, order: 'asc' });
    expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'what is it?' }] }]);
    await openai.responses.delete(id);
    expect(await failureOf(openai.responses.retrieve(id))).toMatchObject({ status: 404, code: 'response_not_found' });
    expect(await failureOf(openai.responses.inputItems.list(id))).toMatchObject({ status: 404, code: 'response_not_found' });
    const input = [{ type: 'item_reference' as const, id: output[0]?.id ?? '' }, user('go on')];
    const named = await failureOf(openai.responses.create({ model: 'natter', input }));
    expect(named).toMatchObject({ status: 404, code: 'item_not_found', param: 'input', type: 'invalid_request_error' });
  });

  test('a part of a longer conversation is not deleted alone', async () => {
    const { openai } = system();
    const first = await openai.responses.create({ model: 'natter', input: 'one' });
    await openai.responses.create({ model: 'natter', input: 'two', previous_response_id: first.id });
    expect(await failureOf(openai.responses.delete(first.id))).toMatchObject({ status: 409, code: 'response_in_conversation' });
    const named = await openai.responses.create({ model: 'natter', input: 'one', conversation: 'agent:main:api:a-name' });
    expect(await failureOf(openai.responses.delete(named.id))).toMatchObject({ status: 409, code: 'response_in_conversation' });
    expect((await openai.responses.retrieve(first.id)).output_text).toBe('You said: one');
  });

  test('is cancelled while it runs, and stays as it is once it has ended', async () => {
    const { openai } = system();
    const stream = await openai.responses.create({ model: 'natter', input: '[[think 600000]] a long story', stream: true });
    let id = '';
    let cancelled: Promise<{ status?: string | undefined }> | undefined;
    const read = async () => {
      for await (const event of stream) {
        if (event.type !== 'response.created') continue;
        id = event.response.id;
        cancelled = openai.responses.cancel(id);
      }
    };
    await expect(read()).rejects.toMatchObject({ code: 'aborted' });
    expect(await cancelled).toMatchObject({ status: 'cancelled' });
    expect((await openai.responses.cancel(id)).status).toBe('cancelled');
    const done = await openai.responses.create({ model: 'natter', input: 'hi' });
    expect(await openai.responses.cancel(done.id)).toMatchObject({ status: 'completed', output: done.output });
  });

  test('one that waits behind another is not cancelled in its place', async () => {
    const { openai, whole } = system();
    const conversation = 'agent:main:api:two-at-once';
    const running = openai.responses.create({ model: 'natter', input: '[[think 600000]] first', conversation });
    await whole.until(async () => expect(await whole.eventsOf(conversation, 'turn_started')).toHaveLength(1));
    const behind = await openai.responses.create({ model: 'natter', input: 'second', conversation, stream: true });
    const begun = behind[Symbol.asyncIterator]();
    const { value } = await begun.next();
    const id = value?.type === 'response.created' ? value.response.id : '';
    expect(await failureOf(openai.responses.cancel(id))).toMatchObject({ status: 409, code: 'response_queued' });
    expect(await whole.eventsOf(conversation, 'turn_aborted')).toEqual([]);
    behind.controller.abort();
    await whole.as.owner('POST', pathOf(conversation, '/stop'));
    expect(await failureOf(running)).toMatchObject({ code: 'aborted' });
  });

  test('store: false leaves nothing to read, and its session goes once the answer is sent', async () => {
    const { openai, whole } = system();
    const { data, response } = await openai.responses.create({ model: 'natter', input: 'psst', store: false }).withResponse();
    expect(data).toMatchObject({ output_text: 'You said: psst', store: false, conversation: null });
    expect(await failureOf(openai.responses.retrieve(data.id))).toMatchObject({ status: 404, code: 'response_not_found' });
    const after = { model: 'natter', input: 'go on', previous_response_id: data.id };
    expect(await failureOf(openai.responses.create(after))).toMatchObject({ code: 'previous_response_not_found' });
    const key = decodeURIComponent(response.headers.get('x-natter-session') ?? '');
    await whole.until(async () => expect((await whole.as.owner('GET', pathOf(key))).status).toBe(404));
    const streamed = await openai.responses.create({ model: 'natter', input: 'psst', store: false, stream: true }).withResponse();
    for await (const event of streamed.data)
      if (event.type === 'response.completed') expect(event.response).toMatchObject({ store: false });
    const other = decodeURIComponent(streamed.response.headers.get('x-natter-session') ?? '');
    await whole.until(async () => expect((await whole.as.owner('GET', pathOf(other))).status).toBe(404));
  });

  test('store: false with tools of the program: the session lasts until it has the results', async () => {
    const { openai, whole } = system();
    const tools = [{ type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false }];
    const asked = { role: 'user' as const, content: '[[tool get_weather {"city":"Rome"}]] warm?' };
    const body = { model: 'natter', store: false, tools };
    const { data, response } = await openai.responses.create({ ...body, input: [asked] }).withResponse();
    expect(await failureOf(openai.responses.retrieve(data.id))).toMatchObject({ status: 404, code: 'response_not_found' });
    const [, call] = data.output;
    const call_id = call?.type === 'function_call' ? call.call_id : '';
    const input = [asked, ...data.output, { type: 'function_call_output' as const, call_id, output: '20 °C' }];
    const second = await openai.responses.create({ ...body, input: input as never }).withResponse();
    expect(second.data.output_text).toBe('You said: warm?\nget_weather → 20 °C');
    const keys = [response, second.response].map(({ headers }) => decodeURIComponent(headers.get('x-natter-session') ?? ''));
    expect(keys[1]).toBe(keys[0]);
    await whole.until(async () => expect((await whole.as.owner('GET', pathOf(keys[0] ?? ''))).status).toBe(404));
  });
});

describe('a conversation', () => {
  test('is created with metadata and items, changed, read, and used by a response', async () => {
    const { openai } = system();
    const items = [{ type: 'message' as const, role: 'user' as const, content: 'my name is Ann' }];
    const made = await openai.conversations.create({ metadata: { topic: 'names' }, items });
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'names' }, created_at: expect.any(Number) });
    expect(await openai.conversations.retrieve(made.id)).toEqual(made);
    const changed = await openai.conversations.update(made.id, { metadata: { topic: 'people' } });
    expect(changed.metadata).toEqual({ topic: 'people' });
    await openai.responses.create({ model: 'natter', input: 'hello', conversation: made.id });
    expect(await textsIn(made.id)).toEqual(['my name is Ann', 'hello', 'You said: hello']);
  });

  test('lists its items from either end, page by page, with the calls of the program', async () => {
    const { openai } = system();
    const { id } = await openai.conversations.create();
    const tools = [{ type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false }];
    const input = '[[tool get_weather {"city":"Rome"}]] warm?';
    const first = await openai.responses.create({ model: 'natter', input, conversation: id, tools });
    const [, call] = first.output;
    const call_id = call?.type === 'function_call' ? call.call_id : '';
    const results = [{ type: 'function_call_output' as const, call_id, output: '20 °C' }];
    const second = await openai.responses.create({ model: 'natter', input: results, conversation: id, tools });
    const { data: answered } = await openai.responses.inputItems.list(second.id);
    expect(answered).toMatchObject([{ type: 'function_call_output', call_id, output: '20 °C' }]);
    const all = [];
    for await (const item of openai.conversations.items.list(id, { limit: 2, order: 'asc' })) all.push(item);
    expect(all.map(({ type }) => type)).toEqual(['message', 'message', 'function_call', 'function_call_output', 'message']);
    const newest = await openai.conversations.items.list(id, { limit: 1 });
    expect(newest.data).toEqual(all.slice(-1));
    expect(await openai.conversations.items.retrieve(all[2]?.id ?? '', { conversation_id: id })).toEqual(all[2]);
  });

  test('takes items, of each the same ones for the same key; one alone is not deleted', async () => {
    const { openai } = system();
    const { id } = await openai.conversations.create();
    const items = [
      { role: 'developer' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'I like tea.' },
    ];
    const headers = { 'Idempotency-Key': 'twice' };
    const added = await openai.conversations.items.create(id, { items }, { headers });
    expect(added.data).toHaveLength(2);
    expect(await openai.conversations.items.create(id, { items }, { headers })).toEqual(added);
    expect(await textsIn(id)).toEqual(['[Instructions of the program that asks]\nBe brief.', 'I like tea.']);
    const alone = openai.conversations.items.delete(added.first_id, { conversation_id: id });
    expect(await failureOf(alone)).toMatchObject({ status: 409, code: 'item_not_deletable', param: 'item_id' });
    const none = openai.conversations.items.retrieve('msg_1.9', { conversation_id: id });
    expect(await failureOf(none)).toMatchObject({ status: 404, code: 'item_not_found' });
    const wrong = openai.conversations.items.list(id, { after: 'msg_1.9' });
    expect(await failureOf(wrong)).toMatchObject({ status: 400, param: 'after' });
  });

  test('goes with all that was said in it, and is as good as none for others', async () => {
    const { openai, url } = system();
    const { id } = await openai.conversations.create();
    const theirs = clientFor(url, 'ann').conversations;
    const hidden = await failureOf(theirs.retrieve(id));
    expect(hidden).toMatchObject({ status: 404, code: 'conversation_not_found', param: 'conversation_id' });
    expect(await failureOf(theirs.create())).toMatchObject({ status: 403, code: 'forbidden' });
    expect(await openai.conversations.delete(id)).toEqual({ id, object: 'conversation.deleted', deleted: true });
    expect(await failureOf(openai.conversations.retrieve(id))).toMatchObject({ code: hidden.code, message: hidden.message });
    const { data } = await openai.chat.completions.create({ model: 'natter', messages: [user('hi')] }).withResponse();
    expect(data.choices[0]?.message.content).toBe('You said: hi');
  });
});
