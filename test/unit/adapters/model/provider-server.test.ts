import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { openai, status, stream } from '../../../support/provider-server.ts';
import { provide } from './rig.ts';

/** The server of our tests is one that the provider's own client can talk to. */
const client = (baseURL: string) => new OpenAI({ baseURL, apiKey: 'key' });
const asked = { model: 'tiny', messages: [{ role: 'user' as const, content: 'hi' }] };

describe('the wire server and the official openai client', () => {
  test('a stream of text with usage', async () => {
    const server = await provide(stream(openai.begin(), openai.text('Hel', 'lo'), openai.end('stop', { input: 7, output: 2 })));
    const answer = await client(server.url).chat.completions.stream(asked).finalChatCompletion();
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } });
    expect(answer.usage).toEqual({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 });
    expect(server.requests[0]).toMatchObject({ path: '/v1/chat/completions', body: { ...asked, stream: true } });
  });

  test('calls of tools in fragments', async () => {
    const frames = [openai.call(0, 'weather', '{"city":', '"Rome"}'), openai.call(1, 'weather', '{"city":"Oslo"}')];
    const server = await provide(stream(openai.begin(), ...frames, openai.end('calls')));
    const answer = await client(server.url).chat.completions.stream(asked).finalChatCompletion();
    expect(answer.choices[0]?.message.tool_calls).toMatchObject([
      { id: 'call_wire_0', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      { id: 'call_wire_1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]);
  });

  test('a refusal that says when to ask again, and one for good', async () => {
    const busy = status(429, openai.error('rate_limit_error', 'busy'), { 'retry-after-ms': '20' });
    const server = await provide(busy, stream(openai.begin(), openai.text('ok'), openai.end('stop')));
    const answer = await client(server.url).chat.completions.stream(asked).finalChatCompletion();
    expect(answer.choices[0]?.message.content).toBe('ok');
    const closed = await provide(status(401, openai.error('authentication_error', 'bad key')));
    const refused = client(closed.url).chat.completions.create({ ...asked, stream: true });
    await expect(refused).rejects.toThrow(OpenAI.AuthenticationError);
  });
});
