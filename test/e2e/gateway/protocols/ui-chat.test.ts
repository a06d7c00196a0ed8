import { describe, expect, test, vi } from 'vitest';
import { pathOf } from '../setup.ts';
import { chatAt, shown, startTools, type Tools } from './ui-rig.ts';

/** Issue 5: the UI message stream, with the AI SDK's own chat and transport, unmodified. */

const keyIn = (message: { metadata?: unknown } | undefined): string =>
  (message?.metadata as { sessionKey: string } | undefined)?.sessionKey ?? '';
const typesOf = (chunks: readonly { type: string }[]): string[] => chunks.map(({ type }) => type);
const textsIn = async ({ as }: Tools, key: string): Promise<string[]> =>
  (await as.owner('GET', pathOf(key, '/messages'))).body.messages.map(({ text }: { text: string }) => text);

describe('a message', () => {
  test('is answered in one message, told as its chunks; the session is one of its own', async () => {
    const tools = await startTools();
    const { chat, chunks, streams } = chatAt(tools.url, 'owner', 'my-chat');
    await chat.sendMessage({ text: 'hello' });
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(shown(chat.lastMessage)).toEqual(['You said: hello']);
    const told = await chunks();
    const steps = ['start', 'start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'];
    expect([...new Set(typesOf(told))]).toEqual(steps);
    const key = keyIn(chat.lastMessage);
    expect(key).toMatch(/^agent:main:api:chat-/);
    const [step] = await tools.eventsOf(key, 'model_step');
    const { inputTokens, outputTokens, totalTokens } = step?.usage ?? {};
    const [opened] = await tools.eventsOf(key, 'session_opened');
    expect(chat.lastMessage?.metadata).toEqual({
      ...{ sessionKey: key, sessionId: opened?.sessionId, runId: chat.lastMessage?.id },
      usage: { inputTokens, outputTokens, totalTokens },
    });
    await chat.sendMessage({ text: 'again' });
    expect(await textsIn(tools, key)).toEqual(['hello', 'You said: hello', 'again', 'You said: again']);
    expect(streams).toHaveLength(2);
  });

  test('goes to the session whose key is the id', async () => {
    const tools = await startTools();
    await tools.say('telegram:1', 'from the phone');
    await tools.settled();
    const { chat } = chatAt(tools.url, 'ann', 'agent:main:telegram:default:dm:1');
    await chat.sendMessage({ text: 'from the desk' });
    expect(await textsIn(tools, chat.id)).toEqual([
      ...['from the phone', 'You said: from the phone', 'from the desk', 'You said: from the desk'],
    ]);
  });

  test('text comes as it is made; the chunks of several steps are the recorded texts', async () => {
    const tools = await startTools();
    const { chat, chunks } = chatAt(tools.url, 'owner', 'slow');
    const sent = chat.sendMessage({ text: '[[steps 2]] [[think 600]] a b c' });
    await vi.waitFor(() => expect(shown(chat.lastMessage).join()).toContain('step'));
    expect(await tools.eventsOf(keyIn(chat.lastMessage), 'assistant_message')).toEqual([]);
    await sent;
    expect(shown(chat.lastMessage)).toEqual(['step 1 of 2', 'You said: a b c']);
    expect(typesOf(await chunks()).filter((type) => type === 'start-step')).toHaveLength(2);
  });

  test('A11: a text may be a command; what Natter answers is the text', async () => {
    const { url } = await startTools();
    const { chat } = chatAt(url, 'owner', 'commands');
    await chat.sendMessage({ text: 'hello' });
    await chat.sendMessage({ text: '/new' });
    expect(chat.error).toBeUndefined();
    expect(shown(chat.lastMessage)).toEqual([expect.stringContaining('begins anew')]);
  });

  test('a silent answer is an empty message', async () => {
    const { url } = await startTools();
    const { chat } = chatAt(url, 'owner', 'silent');
    await chat.sendMessage({ text: '[[silent]]' });
    expect([chat.status, shown(chat.lastMessage)]).toEqual(['ready', []]);
  });

  test('I2: the same message twice, at another replica too, is one run with one answer', async () => {
    const tools = await startTools({ gateways: 2 });
    const first = chatAt(tools.url, 'owner', 'twice');
    const message = { id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: '[[think 300]] once' }] };
    const second = chatAt(tools.gateways[1]?.url ?? '', 'owner', 'twice');
    await Promise.all([first.chat.sendMessage(message), second.chat.sendMessage(message)]);
    const later = chatAt(tools.url, 'owner', 'twice');
    await later.chat.sendMessage(message);
    for (const { chat } of [first, second, later]) expect(shown(chat.lastMessage)).toEqual(['You said: once']);
    expect(new Set([first, second, later].map(({ chat }) => chat.lastMessage?.id)).size).toBe(1);
    expect(await textsIn(tools, keyIn(first.chat.lastMessage))).toEqual(['[[think 300]] once', 'You said: once']);
    // Without a word that it is edited.
    const parts = [{ type: 'text', text: 'something else' }];
    const body = { id: 'twice', messages: [{ id: 'm1', role: 'user', parts }] };
    const refused = await tools.as.owner('POST', '/v1/ui/chat', { body });
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('cannot be changed') } });
  });
});

describe('what goes wrong', () => {
  test('a failing turn: what was said so far, and the error', async () => {
    const tools = await startTools();
    const { chat, chunks } = chatAt(tools.url, 'owner', 'failing');
    await chat.sendMessage({ text: '[[steps 2]] [[fail model_down]]' });
    expect([chat.status, chat.error?.message]).toEqual(['error', 'the message asked the offline model to fail']);
    expect(shown(chat.lastMessage)).toEqual(['step 1 of 2']);
    expect(chat.lastMessage?.metadata).toMatchObject({ error: { code: 'model_down' } });
    expect(typesOf(await chunks()).slice(-2)).toEqual(['message-metadata', 'error']);
  });

  test('a turn that is stopped: no error', async () => {
    const tools = await startTools();
    const { chat, chunks } = chatAt(tools.url, 'owner', 'stopped');
    const sent = chat.sendMessage({ text: '[[think 60000]] a b' });
    await tools.until(() => expect(keyIn(chat.lastMessage)).not.toBe(''));
    const key = keyIn(chat.lastMessage);
    await tools.until(async () => expect(await tools.eventsOf(key, 'turn_started')).toHaveLength(1));
    await tools.as.owner('POST', pathOf(key, '/stop'), { body: {} });
    await sent;
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(typesOf(await chunks()).slice(-2)).toEqual(['abort', 'finish']);
  });

  test('A8/89: a session of others is answered like one that is not there, for a message and to resume', async () => {
    const tools = await startTools();
    await tools.say('telegram:1', 'hi');
    await tools.settled();
    const ask = async (id: string) => {
      const { chat } = chatAt(tools.url, 'eve', id);
      await chat.sendMessage({ text: 'hello' });
      const said = JSON.parse(chat.error?.message ?? '{}');
      await chat.resumeStream();
      return [said, JSON.parse(chat.error?.message ?? '{}')].map(({ requestId: _, ...problem }) => problem);
    };
    const foreign = await ask('agent:main:telegram:default:dm:1');
    expect(foreign).toMatchObject([
      { status: 404, code: 'not_found' },
      { status: 404, code: 'not_found' },
    ]);
    expect(await ask('agent:main:telegram:group:nowhere')).toEqual(foreign);
    const own = chatAt(tools.url, 'eve', 'words-of-her-own');
    await own.chat.sendMessage({ text: 'hello' });
    expect(JSON.parse(own.chat.error?.message ?? '{}')).toMatchObject({ status: 403, code: 'forbidden' });
  });

  const text = (said: string) => ({ role: 'user', id: 'm', parts: [{ type: 'text', text: said }] });
  test.each<[string, object, string, string]>([
    ['no id', { id: undefined }, 'id', 'invalid'],
    ['an id that is no key', { id: 'a b:c' }, 'id', 'invalid'],
    ['no messages', { messages: [] }, 'messages', 'invalid'],
    ['no list', { messages: 'x' }, 'messages', 'invalid'],
    ['no parts', { messages: [{ role: 'user', id: 'm' }] }, 'messages.0.parts', 'invalid'],
    ['no id of the message', { messages: [text('x'), { ...text('x'), id: 7 }] }, 'messages.1.id', 'invalid'],
    ['a role that is none', { messages: [{ role: 'system', id: 'm', parts: [] }] }, 'messages.0.role', 'invalid'],
    ['an empty text', { messages: [text(' ')] }, 'messages.0.parts', 'invalid'],
    ['a picture', { messages: [{ ...text('x'), parts: [{ type: 'file', url: 'data:,' }] }] }, 'messages.0.parts.0', 'invalid'],
    ['nothing answered', { messages: [{ role: 'assistant', id: 'm', parts: [] }] }, 'messages.0.parts', 'invalid'],
  ])('400: %s', async (_, change, field, code) => {
    const tools = await startTools();
    const body = { id: 'c', messages: [text('hello')], trigger: 'submit-message', ...change };
    const refused = await tools.as.owner('POST', '/v1/ui/chat', { body });
    expect(refused).toMatchObject({ status: 400, body: { field, code } });
    expect(refused.headers['content-type']).toMatch('application/problem+json');
  });
});
