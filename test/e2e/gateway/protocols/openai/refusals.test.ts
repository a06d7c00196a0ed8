import { describe, expect, test } from 'vitest';
import { createModels } from '../../../../../shared/adapters/model/create.ts';
import { configSchema } from '../../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../../shared/kit/clock.ts';
import { type Answer, anthropic, openai as compatible, startProvider, stream } from '../../../../support/provider-server.ts';
import { startWhole } from '../../../system/whole.ts';
import { afterwards } from '../../setup.ts';
import { clientFor, readChunks, user } from '../openai-rig.ts';

/** What a model says to refuse, and an answer that its provider holds back: OpenAI's API answers both, and so do we. */

const start = async (kind: 'openai' | 'anthropic', ...answers: [Answer, ...Answer[]]) => {
  const provider = await startProvider(...answers);
  afterwards(() => provider.close());
  const fake = { kind: kind === 'openai' ? compatible.kind : anthropic.kind, baseUrl: provider.url };
  const config = configSchema.parse({ agent: { model: 'fake/tiny' }, model: { providers: { fake } } });
  const whole = await startWhole({ model: createModels(config, {}, systemClock)() });
  return { whole, openai: clientFor(whole.gateways[0]?.url ?? '') };
};
const asked = { model: 'natter', messages: [user('how?')] };
const input = { model: 'natter', input: 'how?' };

describe('what a model says to refuse', () => {
  const refusing = stream(
    compatible.begin(),
    compatible.text('I ', 'will not.').replaceAll('"content":', '"refusal":'),
    compatible.end('stop'),
  );

  test('chat completions: it is the refusal, and no content; the conversation goes on in its session', async () => {
    const { whole, openai } = await start('openai', refusing);
    const { data, response } = await openai.chat.completions.create(asked).withResponse();
    const [choice] = data.choices;
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: null, refusal: 'I will not.' } });
    const key = response.headers.get('x-natter-session');
    expect(await whole.eventsOf(decodeURIComponent(key ?? ''), 'model_step')).toMatchObject([
      { text: 'I will not.', refused: true },
    ]);
    const messages = [...asked.messages, ...(choice ? [choice.message] : []), user('and now?')];
    const next = await openai.chat.completions.create({ ...asked, messages }).withResponse();
    expect(next.response.headers.get('x-natter-session')).toBe(key);
  });

  test('chat completions, streamed', async () => {
    const { openai } = await start('openai', refusing);
    const { chunks, text } = await readChunks(await openai.chat.completions.create({ ...asked, stream: true }));
    expect(text).toBe('');
    expect(chunks.map(({ choices }) => choices[0]?.delta.refusal ?? '').join('')).toBe('I will not.');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  test('responses, whole and streamed, and in the conversation: a part of its own', async () => {
    const { openai } = await start('openai', refusing);
    const content = [{ type: 'refusal', refusal: 'I will not.' }];
    const response = await openai.responses.create(input);
    expect(response).toMatchObject({ status: 'completed', output: [{ type: 'message', content }] });
    expect((await openai.responses.retrieve(response.id)).output).toEqual(response.output);
    const items = await openai.conversations.items.list(response.conversation?.id ?? '');
    expect(items.data[0]).toMatchObject({ role: 'assistant', content });
    const streamed = openai.responses.stream(input);
    const refusals: string[] = [];
    streamed.on('response.refusal.done', ({ refusal }) => refusals.push(refusal));
    expect((await streamed.finalResponse()).output).toMatchObject([{ type: 'message', content }]);
    expect(refusals).toEqual(['I will not.']);
  });
});

describe.each(['openai', 'anthropic'] as const)('an answer that its provider holds back (%s)', (kind) => {
  const { begin, text, end } = kind === 'openai' ? compatible : anthropic;
  const filtered = stream(begin(), text('First you'), end('refused'));

  test('chat completions: 200, and the reason why it ends', async () => {
    const { whole, openai } = await start(kind, filtered);
    const { data, response } = await openai.chat.completions.create(asked).withResponse();
    expect(data.choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { content: '', refusal: null } });
    // For everybody else the run has failed.
    const failed = await whole.eventsOf(decodeURIComponent(response.headers.get('x-natter-session') ?? ''), 'turn_failed');
    expect(failed).toMatchObject([{ code: 'model_refused' }]);
  });

  test('chat completions, streamed', async () => {
    const { openai } = await start(kind, filtered);
    const { chunks, text: told } = await readChunks(await openai.chat.completions.create({ ...asked, stream: true }));
    expect('First you').toContain(told);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('content_filter');
  });

  test('responses, whole, read later and streamed', async () => {
    const { openai } = await start(kind, filtered);
    const incomplete = { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, error: null };
    const response = await openai.responses.create(input);
    expect(response).toMatchObject(incomplete);
    expect(await openai.responses.retrieve(response.id)).toMatchObject(incomplete);
    const events: string[] = [];
    for await (const { type } of await openai.responses.create({ ...input, stream: true })) events.push(type);
    expect(events.at(-1)).toBe('response.incomplete');
  });
});
