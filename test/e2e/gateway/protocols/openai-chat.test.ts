import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { heldFeed } from '../../../support/streams/held-feed.ts';
import { startWhole, type Whole } from '../../system/whole.ts';
import { pathOf } from '../setup.ts';
import { clientFor, readChunks, user } from './openai-rig.ts';

/** Issue 5: chat completions with the official client, unmodified. */

const start = async (given: Parameters<typeof startWhole>[0] = {}) => {
  const whole = await startWhole(given);
  return { whole, openai: clientFor(whole.gateways[0]?.url ?? '') };
};
/** The session that an answer says it came from. */
const keyIn = ({ headers }: Response): string => decodeURIComponent(headers.get('x-natter-session') ?? '');
const textsIn = async (whole: Whole, key: string): Promise<string[]> =>
  (await whole.as.owner('GET', pathOf(key, '/messages'))).body.messages.map(({ text }: { text: string }) => text);

describe('models', () => {
  test('the agent is the only model; its short names are the same one', async () => {
    const { openai } = await start();
    const list = [];
    for await (const model of openai.models.list()) list.push(model);
    expect(list).toEqual([{ id: 'natter/main', object: 'model', created: 0, owned_by: 'natter' }]);
    for (const name of ['natter', 'main', 'natter/main']) expect(await openai.models.retrieve(name)).toEqual(list[0]);
  });
});

describe('whole answers', () => {
  test('a call without anything that names a session is a session of its own; the answer is the recorded reply, its tokens those of the run', async () => {
    const { whole, openai } = await start();
    const { data, response } = await openai.chat.completions
      .create({ model: 'natter', messages: [user('hello')] })
      .withResponse();
    const key = keyIn(response);
    expect(key).toMatch(/^agent:main:api:openai-/);
    const [step] = await whole.eventsOf(key, 'model_step');
    const [reply] = await whole.eventsOf(key, 'assistant_message');
    expect(data).toMatchObject({
      id: `chatcmpl-${response.headers.get('x-natter-run')}`,
      object: 'chat.completion',
      model: 'natter/main',
      choices: [{ index: 0, message: { role: 'assistant', content: reply?.text }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: step?.usage.inputTokens,
        completion_tokens: step?.usage.outputTokens,
        total_tokens: step?.usage.totalTokens,
      },
    });
    const again = await openai.chat.completions.create({ model: 'natter', messages: [user('hello')] }).withResponse();
    expect(again.response.headers.get('x-natter-session')).not.toBe(encodeURIComponent(key));
  });

  test('what the request tells before its last message is remembered before it: the instructions, and the rest as one message', async () => {
    const { whole, openai } = await start();
    const { response } = await openai.chat.completions
      .create({
        model: 'natter',
        messages: [
          { role: 'system', content: 'Be brief.' },
          user('I am Ann.'),
          { role: 'assistant', content: 'Hello "Ann"' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'who ' },
              { type: 'text', text: 'am I?' },
            ],
          },
        ],
      })
      .withResponse();
    expect(await textsIn(whole, keyIn(response))).toEqual([
      '[Instructions of the program that asks]\nBe brief.',
      '[What was said before, as that program tells it: one message a line]\n' +
        '{"role":"user","content":"I am Ann."}\n{"role":"assistant","content":"Hello \\"Ann\\""}',
      'who am I?',
      'You said: who am I?',
    ]);
  });

  test('a conversation that names no session stays in one, found by its history; another history is another session', async () => {
    const { whole, openai } = await start();
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'Be brief.' }, user('hello')];
    const ask = async (more: OpenAI.ChatCompletionMessageParam[] = []) => {
      const { data, response } = await openai.chat.completions
        .create({ model: 'natter', messages: [...messages, ...more] })
        .withResponse();
      const answer = data.choices[0]?.message;
      if (answer && more.length === 0) messages.push(answer);
      return keyIn(response);
    };
    const key = await ask();
    for (const text of ['two', 'three']) {
      messages.push(user(text));
      expect(await ask()).toBe(key);
    }
    expect(await textsIn(whole, key)).toEqual([
      '[Instructions of the program that asks]\nBe brief.',
      ...['hello', 'You said: hello', 'two', 'You said: two', 'three', 'You said: three'],
    ]);
    // Two programs that begin alike are told apart by where they stand, and an earlier point is a session of its own.
    messages.splice(3);
    expect(await ask([user('four')])).not.toBe(key);
    expect(await ask([{ role: 'assistant', content: 'I never said so' }, user('four')])).not.toBe(key);
  });

  test('a user is a session: only the last message goes there, instructions once; another user and another token have others', async () => {
    const { whole, openai } = await start();
    const ask = async (client: typeof openai, name: string, text: string) => {
      const messages = [{ role: 'system', content: 'Be kind.' } as const, user('told before'), user(text)];
      const call = client.chat.completions.create({ model: 'natter', user: name, messages });
      return keyIn((await call.withResponse()).response);
    };
    const key = await ask(openai, 'ann', 'one');
    expect(await ask(openai, 'ann', 'two')).toBe(key);
    expect(await textsIn(whole, key)).toEqual([
      '[Instructions of the program that asks]\nBe kind.',
      'one',
      'You said: one',
      'two',
      'You said: two',
    ]);
    const bob = await ask(openai, 'bob', 'bob here');
    const second = await ask(clientFor(whole.gateways[0]?.url ?? '', 'second'), 'ann', 'another ann');
    expect(new Set([key, bob, second]).size).toBe(3);
    expect((await textsIn(whole, key)).join()).not.toMatch(/bob|another/);
  });

  test('a text that looks like a chat command is for the model (A11)', async () => {
    const { openai } = await start();
    const { choices } = await openai.chat.completions.create({ model: 'natter', user: 'ann', messages: [user('/new')] });
    expect(choices[0]?.message.content).toBe('You said: /new');
  });

  test('the same Idempotency-Key is the same run, in its own session too', async () => {
    const { whole, openai } = await start();
    const ask = () =>
      openai.chat.completions
        .create(
          { model: 'natter', messages: [user('before'), { role: 'assistant', content: 'yes' }, user('once')] },
          { headers: { 'Idempotency-Key': 'k1' } },
        )
        .withResponse();
    const first = await ask();
    const again = await ask();
    expect(again.data).toEqual({ ...first.data, created: expect.any(Number) });
    expect(keyIn(again.response)).toBe(keyIn(first.response));
    expect(await textsIn(whole, keyIn(first.response))).toHaveLength(3);
  });

  test('a silent answer is empty (A6/77)', async () => {
    const { openai } = await start();
    const { choices } = await openai.chat.completions.create({ model: 'natter', messages: [user('[[silent]]')] });
    expect(choices[0]?.message.content).toBe('');
  });
});

describe('streams', () => {
  const streamed = (openai: ReturnType<typeof clientFor>, text: string, headers = {}) =>
    openai.chat.completions.create(
      { model: 'natter', stream: true, stream_options: { include_usage: true }, messages: [user(text)] },
      { headers },
    );

  test.each([
    ['an answer at once', 'hello there', 'You said: hello there'],
    ['word by word', '[[think 100]] one two three', 'You said: one two three'],
    ['several steps', '[[steps 3]] [[think 60]] done', 'step 1 of 3\n\nstep 2 of 3\n\nYou said: done'],
    ['a silent one', '[[think 50]] [[silent]]', ''],
    ['a marker in the middle', '[[think 100]] a <NO_REPLY> b <NO_REPLY>', 'You said: a  b'],
    ['a marker in front of a space', '[[think 50]] x <NO', 'You said: x <NO'],
    ['much', '[[size 20000]]', 'natter '.repeat(3_000).slice(0, 20_000)],
  ])('%s: the chunks together are the answer, and the same as without a stream', async (_, text, expected) => {
    const { openai } = await start();
    const { chunks, text: content } = await readChunks(await streamed(openai, text));
    const whole = await openai.chat.completions.create({ model: 'natter', messages: [user(text)] });
    expect(content).toBe(expected);
    expect(whole.choices[0]?.message.content).toBe(expected);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test('text comes as it is made, before the answer is recorded', async () => {
    const { whole, openai } = await start();
    const { data, response } = await streamed(openai, '[[think 1500]] one two three four').withResponse();
    for await (const { choices } of data) if (choices[0]?.delta.content) break;
    expect(await whole.eventsOf(keyIn(response), 'turn_started')).toHaveLength(1);
    expect(await whole.eventsOf(keyIn(response), 'assistant_message')).toEqual([]);
  });

  test('a client that leaves in mid-stream stops nothing: the answer is recorded', async () => {
    const { whole, openai } = await start();
    const { data, response } = await streamed(openai, '[[think 400]] one two three four').withResponse();
    for await (const { choices } of data) if (choices[0]?.delta.content) data.controller.abort();
    const last = async () => (await textsIn(whole, keyIn(response))).at(-1);
    await whole.until(async () => expect(await last()).toBe('You said: one two three four'));
  });

  test('the same Idempotency-Key again, after the end and at another replica: the same text', async () => {
    const { whole, openai } = await start({ gateways: 2 });
    const headers = { 'Idempotency-Key': 'k2' };
    const first = await readChunks(await streamed(openai, '[[think 50]] once', headers));
    const second = await readChunks(await streamed(clientFor(whole.gateways[1]?.url ?? ''), '[[think 50]] once', headers));
    expect([first.text, second.text]).toEqual(['You said: once', 'You said: once']);
    expect(second.chunks[0]?.id).toBe(first.chunks[0]?.id);
  });

  test('two streams of one user at once: each has its own answer, one after the other', async () => {
    const { openai } = await start();
    const ask = async (text: string) =>
      readChunks(await openai.chat.completions.create({ model: 'natter', stream: true, user: 'ann', messages: [user(text)] }));
    const [one, two] = await Promise.all([ask('[[think 200]] the first one'), ask('[[think 200]] the second one')]);
    expect([one.text, two.text]).toEqual(['You said: the first one', 'You said: the second one']);
  });

  test('the same Idempotency-Key while the run goes on: the second stream has all of the text too', async () => {
    const { openai } = await start();
    const headers = { 'Idempotency-Key': 'k3' };
    const ask = () => streamed(openai, '[[steps 2]] [[think 400]] a b c', headers);
    const first = await ask();
    const second = await ask();
    const texts = (await Promise.all([readChunks(first), readChunks(second)])).map(({ text }) => text);
    expect(texts).toEqual(Array(2).fill('step 1 of 2\n\nYou said: a b c'));
  });

  test('text of a step that comes before what is recorded of the step before it waits for that', async () => {
    const { whole } = await start();
    const isFirstStep = ({ events }: RecordedCommit) => events.some((event) => event.type === 'model_step' && event.step === 1);
    const late = heldFeed(whole.memory.portsFor('late'), isFirstStep);
    const { url } = await whole.openGatewayWith(late.ports);
    const { data, response } = await streamed(clientFor(url), '[[steps 2]] [[think 100]] a b c').withResponse();
    await whole.until(async () => expect(await whole.eventsOf(keyIn(response), 'turn_completed')).toHaveLength(1));
    late.letGo();
    expect((await readChunks(data)).text).toBe('step 1 of 2\n\nYou said: a b c');
  });

  test("the client's own helper puts the chunks together", async () => {
    const { openai } = await start();
    const runner = openai.chat.completions.stream({ model: 'natter', messages: [user('[[think 50]] all of it')] });
    expect(await runner.finalContent()).toBe('You said: all of it');
  });
});
