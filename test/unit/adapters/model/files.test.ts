import { expect, test } from 'vitest';
import type { ModelMessage } from '../../../../shared/domain/prompt/model-request.ts';
import { digestOf, pdf, png } from '../../../support/files.ts';
import { openai, status, stream } from '../../../support/provider-server.ts';
import { dialects, modelsAt, provide, take } from './rig.ts';

const file = (type: string, content: Buffer, name: string) => ({
  digest: digestOf(content),
  type,
  bytes: content.length,
  name,
  content,
});
const message = (...files: ReturnType<typeof file>[]): ModelMessage => ({ role: 'user', text: 'Look', files });
const picture = file('image/png', png, 'a.png');

test.each(dialects)('%s: a text is told as one, an image as an image', async (_, dialect) => {
  const server = await provide(stream(dialect.begin(), dialect.text('ok'), dialect.end('stop')));
  const note = file('text/markdown', Buffer.from('# Plan'), 'plan.md');
  await take(dialect, server, {}, { messages: [message(note, picture)] });
  const content = server.requests[0]?.body.messages.at(-1).content;
  expect(content.slice(0, 2)).toMatchObject([
    { type: 'text', text: 'Look' },
    { type: 'text', text: '[Content of plan.md]\n# Plan' },
  ]);
  expect(JSON.stringify(content[2])).toContain(png.toString('base64'));
});

test('a provider that refuses a file is asked again without it, and told that it was there', async () => {
  const refused = status(400, openai.error('invalid_request_error', 'image input is not supported'));
  const server = await provide(refused, stream(openai.begin(), openai.text('fine'), openai.end('stop')));
  const { outcome } = await take(openai, server, {}, { messages: [message(picture)] });
  expect(outcome).toMatchObject({ kind: 'reply', text: 'fine' });
  expect(server.requests[1]?.body.messages.at(-1).content).toBe('Look\n[You cannot see a.png: the provider did not take it.]');
});

test('a refusal that is about something else stays one', async () => {
  const refused = status(400, openai.error('invalid_request_error', 'no'));
  const server = await provide(refused);
  const { outcome } = await take(openai, server, {}, { messages: [message(picture)] });
  expect(outcome).toMatchObject({ kind: 'failed', code: 'model_bad_request' });
  expect(server.requests).toHaveLength(2);
});

test('a model takes what its provider has, or what the configuration says of it', () => {
  const url = 'http://127.0.0.1:9';
  const named = (inputs?: Record<string, string[]>) =>
    modelsAt({ local: { dialect: openai, url, ...(inputs && { inputs }) } })('local/tiny');
  const types = ['image/png', 'audio/wav', 'application/pdf', 'image/svg+xml', 'text/plain'];
  const taken = (model: ReturnType<typeof named>) => types.filter((type) => model.takes?.(type));
  expect(taken(named())).toEqual(['image/png', 'audio/wav', 'application/pdf']);
  expect(taken(named({ tiny: [] }))).toEqual([]);
  expect(taken(named({ tiny: ['image'] }))).toEqual(['image/png']);
  expect(taken(modelsAt({})('offline'))).toEqual([]);
});

test('of several models in order, one that takes no such file is told what it misses', async () => {
  const down = await provide(status(503, {}));
  const blind = await provide(stream(openai.begin(), openai.text('ok'), openai.end('stop')));
  const sighted = { dialect: openai, url: down.url };
  const model = modelsAt(
    { sighted, blind: { dialect: openai, url: blind.url, inputs: { tiny: ['image'] } } },
    { agent: { model: 'sighted/tiny', fallbacks: ['blind/tiny'] }, model: { retries: 0 } },
  )();
  expect(model.takes?.('application/pdf')).toBe(true);
  const asked = {
    ...{ key: 'agent:main:main' as never, turn: { id: 't', attempt: 1 }, step: 1, system: '', tools: [], prompt: '' },
  };
  await model.step(
    { ...asked, messages: [message(file('application/pdf', pdf, 'a.pdf'))] },
    () => {},
    new AbortController().signal,
  );
  expect(blind.requests[0]?.body.messages.at(-1).content).toBe(
    'Look\n[You cannot see a.pdf: you take no files of type application/pdf.]',
  );
});
