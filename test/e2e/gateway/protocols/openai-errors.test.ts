import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { startWhole } from '../../system/whole.ts';
import { startReplicas } from '../access/token-rig.ts';
import { afterwards, startWorld, token } from '../setup.ts';
import { clientFor, failureOf, readChunks, user } from './openai-rig.ts';

/** Issue 5: what is refused, as the official client's own error classes. */

const start = async () => {
  const { gateway, host, memory, call } = await startWorld();
  return { url: gateway.url, host, memory, call, openai: clientFor(gateway.url, 'owner', { apiKey: token }) };
};

describe('what is not valid', () => {
  test('401: no token of ours', async () => {
    const { url } = await start();
    const wrong = await failureOf(clientFor(url, 'stranger').models.list());
    expect(wrong).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(wrong).toMatchObject({ code: 'invalid_api_key', type: 'authentication_error', param: null });
  });

  test('404: a model that is no agent', async () => {
    const { openai } = await start();
    const asking = await failureOf(openai.chat.completions.create({ model: 'gpt-5', messages: [user('x')] }));
    expect(asking).toBeInstanceOf(OpenAI.NotFoundError);
    expect(asking).toMatchObject({ code: 'model_not_found', param: 'model', message: expect.stringContaining('natter/main') });
    expect(await failureOf(openai.models.retrieve('natter/other'))).toMatchObject({ code: 'model_not_found' });
  });

  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } } as const;
  const tool = { type: 'function', function: { name: 'f' } } as const;
  test.each<[string, object, string, string]>([
    ['no messages', { messages: [] }, 'messages', 'invalid'],
    ['no list of messages', { messages: 'x' }, 'messages', 'invalid'],
    ['a role that is none', { messages: [user('x'), { role: 'function', content: 'x' }] }, 'messages[1].role', 'invalid'],
    ['a result of no call', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id', 'invalid'],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, image] }] },
      'messages[0].content[1]',
      'invalid',
    ],
    [
      'a call without an id',
      { messages: [{ role: 'assistant', content: '', tool_calls: [tool] }] },
      'messages[0].tool_calls[0].id',
      'invalid',
    ],
    ['an answer last', { messages: [user('x'), { role: 'assistant', content: 'y' }] }, 'messages', 'invalid'],
    ['an empty message', { messages: [user(' ')] }, 'messages', 'invalid'],
    ['an empty user', { user: '' }, 'user', 'invalid'],
    ['two answers', { n: 2 }, 'n', 'unsupported_parameter'],
    ['functions of old', { functions: [tool.function] }, 'functions', 'unsupported_parameter'],
    ['a tool that must be called, without any', { tool_choice: 'required' }, 'tool_choice', 'invalid'],
    ['probabilities', { logprobs: true }, 'logprobs', 'unsupported_parameter'],
    ['a bias of a word', { logit_bias: { hello: 1 } }, 'logit_bias', 'invalid'],
    ['a bias too large', { logit_bias: { 1734: 101 } }, 'logit_bias', 'invalid'],
    ['sound', { modalities: ['text', 'audio'] }, 'modalities', 'unsupported_parameter'],
    ['a format that is none', { response_format: { type: 'xml' } }, 'response_format.type', 'invalid'],
    ['a format without a schema', { response_format: { type: 'json_schema' } }, 'response_format.json_schema.schema', 'invalid'],
    ['too many stop words', { stop: ['1', '2', '3', '4', '5'] }, 'stop', 'invalid'],
    ['a temperature too high', { temperature: 3 }, 'temperature', 'invalid'],
  ])('400: %s', async (_, change, param, code) => {
    const { openai } = await start();
    const body = { model: 'natter', messages: [user('x')], ...change };
    const refused = await failureOf(openai.chat.completions.create(body as OpenAI.ChatCompletionCreateParams));
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refused).toMatchObject({ param, code, type: 'invalid_request_error' });
  });

  test.each([
    ['required' as const, undefined, '"required" needs a tool to call'],
    [{ type: 'function' as const, function: { name: 'later' } }, [tool], 'no tool "later"'],
  ])('a choice of tools that cannot be made says what is missing: %j', async (tool_choice, tools, said) => {
    const { openai } = await start();
    const body = { model: 'natter', messages: [user('x')], tool_choice, ...(tools && { tools }) };
    expect((await failureOf(openai.chat.completions.create(body as OpenAI.ChatCompletionCreateParams))).message).toContain(said);
  });

  test('settings of the model, and what is not known at all, do no harm', async () => {
    const { openai } = await start();
    const harmless = {
      temperature: 0.3,
      top_p: 1,
      max_tokens: 5,
      seed: 1,
      n: 1,
      tools: [],
      logit_bias: {},
      logprobs: false,
      stop: null,
    };
    const body = { model: 'natter', messages: [user('x')], ...harmless, later: 1, response_format: { type: 'text' as const } };
    expect((await openai.chat.completions.create(body)).choices[0]?.message.content).toBe('you said: x');
  });

  test.each<[string, object, object, string]>([
    ['the session named twice', { conversation: 'main' }, { 'x-natter-session': 'main' }, 'conversation'],
    ['a header that is no key', {}, { 'x-natter-session': 'a b' }, 'x-natter-session'],
    ['a header that is not encoded well', {}, { 'x-natter-session': '%E4' }, 'x-natter-session'],
    ['a session of another agent', { conversation: 'agent:other:main' }, {}, 'model'],
    ['an idempotency key with a space', {}, { 'Idempotency-Key': 'a b' }, 'idempotency-key'],
    ['a format of the text', { text: { format: { type: 'xml' } } }, {}, 'text.format.type'],
    ['in the background, for nobody', { background: true, store: false }, {}, 'background'],
    ['an item that is not taken', { input: [{ type: 'web_search_call', id: 'x' }] }, {}, 'input[0].type'],
  ])('400 of responses: %s', async (_, change, headers, param) => {
    const { openai } = await start();
    const call = openai.responses.create({ model: 'natter', input: 'x', ...change } as never, { headers: headers as never });
    expect(await failureOf(call)).toMatchObject({ status: 400, param, type: 'invalid_request_error' });
  });

  test('an address that OpenAI has and Natter does not is refused in the same shape', async () => {
    const { openai } = await start();
    expect(await failureOf(openai.files.list())).toMatchObject({ status: 404, code: 'unknown_url' });
    expect(await failureOf(openai.images.generate({ prompt: 'x' }))).toMatchObject({ status: 404, code: 'unknown_url' });
  });

  test('malformed JSON, another type and an unknown parameter are refused in the same shape', async () => {
    const { call } = await start();
    const path = '/v1/chat/completions';
    const shape = { message: expect.any(String), type: 'invalid_request_error', code: expect.any(String) };
    const headers = { 'content-type': 'text/plain' };
    expect((await call('POST', path, { bytes: '{"model":' })).body).toEqual({ error: { ...shape, param: 'body' } });
    expect((await call('POST', path, { bytes: 'x', headers })).body.error).toMatchObject({ ...shape, param: 'content-type' });
    expect((await call('GET', '/v1/models?x=1')).body).toEqual({ error: { ...shape, param: 'x' } });
    const bytes = JSON.stringify({ model: 'natter', messages: [{ role: 'user', content: 'x'.repeat(300_000) }] });
    expect((await call('POST', path, { bytes })).body.error).toMatchObject({ code: 'too_large', param: 'messages' });
  });
});

describe('runs that do not end with an answer', () => {
  test('500: the model fails; the client does not ask again by itself', async () => {
    const { url, call } = await start();
    const openai = clientFor(url, 'owner', { apiKey: token, maxRetries: 2 });
    const failed = await failureOf(openai.chat.completions.create({ model: 'natter', user: 'ann', messages: [user('fail')] }));
    expect(failed).toBeInstanceOf(OpenAI.InternalServerError);
    expect(failed).toMatchObject({ code: 'model_error', type: 'server_error', message: '500 the model would not' });
    const rows = async () => (await call('GET', '/v1/sessions')).body.sessions;
    await expect.poll(rows).toMatchObject([{ failedTurns: 1, messageCount: 1 }]);
  });

  test('504 after the time the caller prefers; the run goes on', async () => {
    const { openai, host } = await start();
    host.hold();
    const body = { model: 'natter', user: 'ann', messages: [user('later')] };
    const options = { headers: { Prefer: 'wait=1', 'Idempotency-Key': 'k' } };
    const late = await failureOf(openai.chat.completions.create(body, options));
    expect(late).toMatchObject({ status: 504, code: 'timeout' });
    const stream = openai.chat.completions.create({ ...body, stream: true }, options);
    expect(await failureOf(stream.then(readChunks))).toMatchObject({ code: 'timeout' });
    await host.release();
    expect((await openai.chat.completions.create(body, options)).choices[0]?.message.content).toBe('you said: later');
  });

  test.each([true, false])('401: its token was revoked meanwhile, and it is told so (I12), streamed: %s', async (stream) => {
    const { urls, make, admin, host } = await startReplicas();
    host.hold();
    const { token: apiKey, id } = await make({ role: 'owner' });
    const openai = clientFor(urls[0], 'owner', { apiKey });
    const ask = async () => {
      const answer = await openai.responses.create({ model: 'natter', input: 'x', stream, user: 'ann' });
      if (Symbol.asyncIterator in answer) for await (const _ of answer);
    };
    const asking = failureOf(ask());
    const running = async () => (await admin('GET', '/v1/sessions?status=running')).body.sessions.length;
    await expect.poll(running).toBe(1);
    await admin('DELETE', `/v1/tokens/${id}`);
    expect(await asking).toMatchObject({ code: 'invalid_api_key', message: expect.stringContaining('this token was revoked') });
  });

  test('409: it was stopped', async () => {
    const { openai, host, call } = await start();
    host.hold();
    const asking = failureOf(
      openai.chat.completions.create({ model: 'natter', messages: [user('x')] }, { headers: { 'x-natter-session': 'main' } }),
    );
    const stop = () => call('POST', '/v1/sessions/main/stop');
    await expect.poll(async () => (await call('GET', '/v1/sessions/main')).body.status).toBe('running');
    await stop();
    const stopped = await asking;
    expect(stopped).toBeInstanceOf(OpenAI.ConflictError);
    expect(stopped.code).toBe('aborted');
  });

  test('409 approval_required names the approval that waits; once it is granted the response is there (A5/62)', async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'natter-openai-'));
    afterwards(() => rm(workspace, { recursive: true, force: true }));
    const tools = { rules: [{ tool: 'write_file', action: 'ask' }] };
    const whole = await startWhole({ more: { agent: { workspace }, tools } });
    const openai = clientFor(whole.gateways[0]?.url ?? '');
    const input = '[[tool write_file {"path":"note.md","content":"x"}]] done?';
    const call = () => openai.responses.create({ model: 'natter', input, user: 'ann' }, { headers: { 'Idempotency-Key': 'k' } });
    const waits = await failureOf(call());
    expect(waits).toMatchObject({ status: 409, code: 'approval_required' });
    const [, approvalId = ''] = /approval (\S+);/.exec(waits.message) ?? [];
    // Nobody who waits here could answer: they learn it at once, and where, and so does the message behind it.
    const behind = await failureOf(openai.responses.create({ model: 'natter', input: 'and this?', user: 'ann' }));
    expect(behind).toMatchObject({ status: 409, code: 'approval_required' });
    expect(behind.message).toContain(`POST /v1/approvals/${approvalId}`);
    expect((await whole.as.owner('POST', `/v1/approvals/${approvalId}`, { body: { verdict: 'allow-once' } })).status).toBe(200);
    await whole.until(async () => expect((await call()).output_text).toMatch(/You said: done\?\nwrite_file → wrote/));
  });
});
