import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { startWhole, type Whole } from '../../system/whole.ts';
import { pathOf } from '../setup.ts';
import { clientFor, failureOf } from './openai-rig.ts';

/** Issue 5: responses with the official client, unmodified. */

const start = async (given: Parameters<typeof startWhole>[0] = {}) => {
  const whole = await startWhole(given);
  const [first, second] = whole.gateways.map(({ url }) => url);
  return { whole, openai: clientFor(first ?? ''), url: first ?? '', otherUrl: second ?? '' };
};
const textsIn = async (whole: Whole, key: string): Promise<string[]> =>
  (await whole.as.owner('GET', pathOf(key, '/messages'))).body.messages.map(({ text }: { text: string }) => text);
const eventsOf = async (stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) => {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
};

describe('whole answers', () => {
  test('a response has the recorded reply as its text, the tokens of its run, and the session it is in', async () => {
    const { whole, openai } = await start();
    const response = await openai.responses.create({ model: 'natter', input: 'hello', instructions: 'Be brief.' });
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'natter/main',
      output_text: 'You said: hello',
    });
    const key = response.conversation?.id ?? '';
    const [step] = await whole.eventsOf(key, 'model_step');
    expect(response.usage).toMatchObject({
      input_tokens: step?.usage.inputTokens,
      output_tokens: step?.usage.outputTokens,
      total_tokens: step?.usage.totalTokens,
    });
    expect(await textsIn(whole, key)).toEqual(['[Instructions of the program that asks]\nBe brief.', 'hello', 'You said: hello']);
  });

  test('a response is read again by its id, at any replica', async () => {
    const { openai, otherUrl } = await start({ gateways: 2 });
    const response = await openai.responses.create({ model: 'natter', input: '[[steps 2]] hello' });
    const again = await clientFor(otherUrl).responses.retrieve(response.id);
    expect(again).toEqual({ ...response, background: null, created_at: expect.any(Number) });
    expect(again.output_text).toBe('step 1 of 2\n\nYou said: hello');
  });

  test('previous_response_id and conversation go on in the session, which knows what was said', async () => {
    const { whole, openai, otherUrl } = await start({ gateways: 2 });
    const first = await openai.responses.create({ model: 'natter', input: 'one' });
    const previous = { previous_response_id: first.id };
    const second = await clientFor(otherUrl).responses.create({ model: 'natter', input: 'two', ...previous });
    expect(second).toMatchObject({ ...previous, conversation: first.conversation });
    const conversation = second.conversation?.id ?? '';
    await openai.responses.create({
      model: 'natter',
      conversation,
      input: [...first.output, { role: 'user', content: 'three' }] as OpenAI.Responses.ResponseInput,
    });
    expect(await textsIn(whole, conversation)).toEqual([
      'one',
      'You said: one',
      'two',
      'You said: two',
      'three',
      'You said: three',
    ]);
  });

  test('the session header names any session by its key, in its short form too', async () => {
    const { openai } = await start();
    const headers = { 'x-natter-session': encodeURIComponent('telegram:group:größe') };
    const response = await openai.responses.create({ model: 'natter', input: 'hello' }, { headers });
    expect(response.conversation?.id).toBe('agent:main:telegram:group:größe');
  });

  test('a response of a failed run is failed', async () => {
    const { openai } = await start();
    const call = openai.responses.create({ model: 'natter', input: '[[fail busy]]', user: 'ann' });
    expect(await failureOf(call)).toMatchObject({ status: 500, code: 'busy', type: 'server_error' });
  });
});

describe('streams', () => {
  test('the events are those of OpenAI, numbered, and their text is the answer', async () => {
    const { openai } = await start();
    const stream = await openai.responses.create({ model: 'natter', stream: true, input: '[[think 100]] one two three' });
    const events = await eventsOf(stream);
    const types = events.map(({ type }) => type).filter((type) => type !== 'response.output_text.delta');
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const width = (event: (typeof events)[number]) => (event.type === 'response.output_text.delta' ? event.delta.length : 1);
    const numbers = events.map((_, index) => events.slice(0, index + 1).reduce((sum, event) => sum + width(event), -1));
    expect(events.map(({ sequence_number: number }) => number)).toEqual(numbers);
    const deltas = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(2);
    expect(deltas.join('')).toBe('You said: one two three');
    const last = events.at(-1);
    const completed = last?.type === 'response.completed' ? last.response : null;
    const again = await openai.responses.retrieve(completed?.id ?? '');
    expect(again).toMatchObject({ ...completed, background: null, created_at: expect.any(Number) });
  });

  test("the client's own helper puts the events together", async () => {
    const { openai } = await start();
    const runner = openai.responses.stream({ model: 'natter', input: '[[think 50]] all of it' });
    expect((await runner.finalResponse()).output_text).toBe('You said: all of it');
  });

  test('a run that fails in mid-stream is an error of the client, with its code', async () => {
    const { openai } = await start();
    const read = async () =>
      eventsOf(
        await openai.responses.create({ model: 'natter', stream: true, input: '[[steps 2]] [[think 100]] [[fail busy]]' }),
      );
    expect(await failureOf(read())).toMatchObject({ code: 'busy', type: 'server_error' });
  });
});

describe('access (A8/89)', () => {
  const missing = 'there is no such response, or it is not yours to see';

  test("a response of somebody else's and none at all are answered alike, to read and to go on with", async () => {
    const { whole, openai, url } = await start();
    const { id } = await openai.responses.create({ model: 'natter', input: 'secret words' });
    const ann = clientFor(url, 'ann');
    const absent = id.replace(/\.once-.{8}/, '.once-AAAAAAAA');
    expect(absent).not.toBe(id);
    for (const [client, wrong] of [
      [ann, id],
      [ann, absent],
      [openai, absent],
      [openai, 'resp_1'],
      [openai, `${id}=`],
    ] as const) {
      const reading = await failureOf(client.responses.retrieve(wrong));
      expect(reading).toMatchObject({ status: 404, code: 'response_not_found', message: `404 id: ${missing}` });
      const going = await failureOf(client.responses.create({ model: 'natter', input: 'x', previous_response_id: wrong }));
      expect(going).toMatchObject({ status: 404, code: 'previous_response_not_found', param: 'previous_response_id' });
    }
    await whole.settled();
  });

  test('a participant speaks in the sessions they take part in and nowhere else; nobody sees the words of another', async () => {
    const { url } = await start();
    const ann = clientFor(url, 'ann');
    const eve = clientFor(url, 'eve');
    const own = 'agent:main:telegram:default:dm:1';
    const said = await ann.responses.create({ model: 'natter', input: 'hello', conversation: own });
    expect(said.output_text).toBe('You said: hello');
    expect((await ann.responses.retrieve(said.id)).output_text).toBe('You said: hello');
    expect(await failureOf(eve.responses.retrieve(said.id))).toMatchObject({ status: 404 });
    const foreign = await failureOf(eve.responses.create({ model: 'natter', input: 'x', conversation: own }));
    const absent = await failureOf(
      eve.responses.create({ model: 'natter', input: 'x', conversation: 'agent:main:telegram:default:dm:77' }),
    );
    expect(foreign).toMatchObject({ status: 404, code: 'not_found' });
    expect(foreign.error).toEqual(absent.error);
    for (const user of [undefined, 'ann']) {
      const call = ann.responses.create({ model: 'natter', input: 'x', ...(user && { user }) });
      expect(await failureOf(call)).toMatchObject({ status: 403, code: 'forbidden', type: 'permission_error' });
    }
  });
});
