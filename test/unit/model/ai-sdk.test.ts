import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createModel } from '../../../shared/adapters/model/create.ts';
import { configSchema } from '../../../shared/config/schema.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { ModelMessage } from '../../../shared/ports.ts';
import type { SessionKey } from '../../../shared/routing/session-key.ts';

/** A real HTTP server that speaks the OpenAI-compatible streaming protocol as the test wants. */
const servers: Server[] = [];
const serve = async (answer: (request: unknown, response: ServerResponse) => void): Promise<string> => {
  const server = createServer((request, response) => void readBody(request).then((body) => answer(JSON.parse(body), response)));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
};
const readBody = async (request: IncomingMessage): Promise<string> => {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
};
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
const end = (usage?: object): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...(usage && { usage }) })}\n\ndata: [DONE]\n\n`;

const modelAt = (baseUrl: string, limits: object = {}) =>
  createModel(
    configSchema.parse({
      agent: { model: 'local/tiny', systemPrompt: 'Be brief.' },
      model: { providers: { local: { kind: 'openai-compatible', baseUrl, apiKeyEnv: 'LOCAL_KEY' } }, ...limits },
    }),
    { LOCAL_KEY: 'planted-key' },
    systemClock,
  );
const request = (messages: ModelMessage[]) => ({
  key: 'agent:main:main' as SessionKey,
  turn: { id: 't1', attempt: 1 },
  step: 1,
  prompt: messages.at(-1)?.text ?? '',
  system: 'Be brief.',
  messages,
  tools: [],
});
const never = new AbortController().signal;

describe('a model of the AI SDK behind the Model port', () => {
  it('streams the pieces, sends the system prompt and the history, and reports the provider’s usage', async () => {
    let seen: any;
    const url = await serve((body, response) => {
      seen = body;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        chunk({ role: 'assistant', content: 'Hel' }) +
          chunk({ content: 'lo' }) +
          end({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }),
      );
    });
    const pieces: string[] = [];
    const outcome = await modelAt(url).step(
      request([{ role: 'user', text: 'hi', name: 'ann' }]),
      (text) => pieces.push(text),
      never,
    );
    expect(outcome).toEqual({
      kind: 'reply',
      text: 'Hello',
      model: 'local/tiny',
      usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 },
    });
    expect(pieces.join('')).toBe('Hello');
    expect(seen.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ]);
  });

  it('names the speakers where several people write', async () => {
    let seen: any;
    const url = await serve((body, response) => {
      seen = body;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(chunk({ content: 'ok' }) + end());
    });
    const outcome = await modelAt(url).step(
      request([
        { role: 'user', text: 'one', name: 'ann' },
        { role: 'user', text: 'two', name: 'bob' },
      ]),
      () => {},
      never,
    );
    expect(seen.messages.slice(1).map((message: { content: string }) => message.content)).toEqual(['ann: one', 'bob: two']);
    expect(outcome).toMatchObject({ kind: 'reply', usage: { estimated: true } });
  });

  it('turns a provider’s refusal into an outcome without the key in it', async () => {
    const url = await serve((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'bad key' } }));
    });
    const outcome = await modelAt(url).step(request([{ role: 'user', text: 'hi' }]), () => {}, never);
    expect(outcome).toMatchObject({ kind: 'failed', code: 'model_error' });
    expect(JSON.stringify(outcome)).not.toContain('planted-key');
  });

  it('gives up on a server that never begins, and on one that stalls', async () => {
    const silent = await serve(() => {});
    expect(await modelAt(silent, { firstTokenMs: 100 }).step(request([{ role: 'user', text: 'hi' }]), () => {}, never)).toEqual({
      kind: 'failed',
      code: 'model_timeout',
      message: 'no first token within 100 ms',
    });
    const stalling = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'half' }));
    });
    expect(await modelAt(stalling, { idleTokenMs: 100 }).step(request([{ role: 'user', text: 'hi' }]), () => {}, never)).toEqual({
      kind: 'failed',
      code: 'model_timeout',
      message: 'no further token for 100 ms',
    });
  });

  it('refuses a model name or provider it does not know, naming the field', () => {
    const config = (agent: object, providers: object = {}) => configSchema.parse({ agent, model: { providers } });
    expect(() => createModel(config({ model: 'gpt' }), {}, systemClock)).toThrow(/agent\.model.*offline/);
    expect(() => createModel(config({ model: '__proto__/x' }), {}, systemClock)).toThrow(/agent\.model/);
    expect(() =>
      createModel(config({ model: 'a/b' }, { a: { kind: 'anthropic', apiKeyEnv: 'MISSING' } }), {}, systemClock),
    ).toThrow(/MISSING/);
    expect(() => createModel(config({ model: 'a/b' }, { a: { kind: 'openai-compatible' } }), {}, systemClock)).toThrow(/baseUrl/);
  });
});
