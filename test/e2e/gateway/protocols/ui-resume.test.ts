import { describe, expect, test } from 'vitest';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { ToolEnd } from '../../../../shared/ports/tools.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { startWhole } from '../../system/whole.ts';
import { pathOf } from '../setup.ts';
import { chatAt, framesOf, shown, startTools, type Tools, writing } from './ui-rig.ts';

/** Issue 5: a UI message stream that breaks off and is taken up again, by the AI SDK's own chat, unmodified. */

const keyIn = (message: { metadata?: unknown } | undefined): string =>
  (message?.metadata as { sessionKey: string } | undefined)?.sessionKey ?? '';
const slow = '[[steps 2]] [[think 700]] one two three four';
/** A chat in the middle of its second step. */
const inTheMiddle = async (tools: Tools, id: string) => {
  const talk = chatAt(tools.url, 'owner', id);
  const sent = talk.chat.sendMessage({ text: slow });
  await tools.until(() => expect(shown(talk.chat.lastMessage).at(-1)).toMatch(/^You said: one/));
  return { ...talk, sent };
};
const whole = ['step 1 of 2', 'You said: one two three four'];

describe('resume', () => {
  test('204 where nothing runs, or nothing ever was', async () => {
    const tools = await startTools();
    const { chat, streams } = chatAt(tools.url, 'owner', 'idle');
    await chat.resumeStream();
    await chat.sendMessage({ text: 'hello' });
    await tools.settled();
    await chat.resumeStream();
    expect(streams.map(({ status }) => status)).toEqual([204, 200, 204]);
    expect([chat.status, chat.error, shown(chat.lastMessage)]).toEqual(['ready', undefined, ['You said: hello']]);
  });

  test('in mid-answer: the turn from its beginning and exactly once, for a new page and for the one that was cut off', async () => {
    const tools = await startTools({ gateways: 2 });
    const first = await inTheMiddle(tools, 'middle');
    const page = chatAt(tools.gateways[1]?.url ?? '', 'owner', 'middle');
    const resumed = page.chat.resumeStream();
    await first.chat.stop();
    await first.sent;
    expect(first.chat.status).toBe('ready');
    await Promise.all([first.chat.resumeStream(), resumed]);
    for (const { chat, chunks } of [first, page]) {
      expect(shown(chat.lastMessage)).toEqual(whole);
      expect((await chunks()).at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
    }
    expect(first.chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(page.chat.lastMessage?.id).toBe(first.chat.lastMessage?.id);
  });

  test('a client that leaves stops nothing: the answer is recorded, and the same message again has it', async () => {
    const tools = await startTools();
    const { chat, sent } = await inTheMiddle(tools, 'leaving');
    const key = keyIn(chat.lastMessage);
    await chat.stop();
    await sent;
    await tools.until(async () => expect(await tools.eventsOf(key, 'turn_completed')).toHaveLength(1));
    const [message] = chat.messages;
    const later = chatAt(tools.url, 'owner', 'leaving');
    await later.chat.sendMessage(message);
    expect(shown(later.chat.lastMessage)).toEqual(whole);
    expect(later.chat.lastMessage?.id).toBe(chat.lastMessage?.id);
    expect(await tools.eventsOf(key, 'user_message')).toHaveLength(1);
  });

  test('while a call runs: the call is there once', async () => {
    const tools = await startTools({ rules: [] });
    const first = chatAt(tools.url, 'owner', 'calls');
    const sent = first.chat.sendMessage({ text: `${writing('one')} [[think 1500]] done?` });
    await tools.until(() => expect(shown(first.chat.lastMessage).at(1)).toEqual(['write_file', 'output-available']));
    const page = chatAt(tools.url, 'owner', 'calls');
    await Promise.all([sent, page.chat.resumeStream()]);
    expect(shown(page.chat.lastMessage)).toEqual(shown(first.chat.lastMessage));
    expect(shown(page.chat.lastMessage)).toHaveLength(3);
  });

  test('a turn behind which many messages were remembered is told from its beginning too', async () => {
    const ends: (() => void)[] = [];
    const run = () => new Promise<ToolEnd>((resolve) => ends.push(() => resolve({ outcome: 'ok', text: 'done' })));
    const { gateways, memory, as, until, eventsOf } = await startWhole({
      tools: fakeTools({ name: 'one', run }, { name: 'two', run }),
    });
    const key = 'agent:main:cli:behind' as SessionKey;
    const [first, page] = ['', ''].map(() => chatAt(gateways[0]?.url ?? '', 'owner', key));
    const sent = first?.chat.sendMessage({ text: '[[tool one {}]] [[tool two {}]] done?' });
    await until(() => expect(ends).toHaveLength(2));
    const say = (text: string) => as.owner('POST', pathOf(key, '/messages'), { body: { text, mode: 'append' } });
    await Promise.all(Array.from({ length: 140 }, (_, index) => say(`${index}`)));
    const { snapshots } = memory.portsFor('looker');
    await until(async () => expect((await snapshots.get(key))?.position.window[0]).toBeGreaterThan(10));
    ends[0]?.();
    await until(async () => expect(await eventsOf(key, 'tool_result')).toHaveLength(1));
    const resumed = page?.chat.resumeStream();
    await until(() => expect(shown(page?.chat.lastMessage)).toHaveLength(3));
    ends[1]?.();
    await Promise.all([sent, resumed]);
    expect(page?.chat.error).toBeUndefined();
    expect(shown(page?.chat.lastMessage)).toEqual(shown(first?.chat.lastMessage));
  });

  test('A8/89: who reads everything may follow, who sees nothing may not', async () => {
    const tools = await startTools();
    const key = 'agent:main:telegram:default:dm:1';
    await tools.say('telegram:1', '[[think 1500]] one two three');
    await tools.until(async () => expect(await tools.eventsOf(key, 'turn_started')).toHaveLength(1));
    const followed = ['ann', 'reader'].map(async (name) => {
      const { chat } = chatAt(tools.url, name as 'ann' | 'reader', key);
      await chat.resumeStream();
      return shown(chat.lastMessage);
    });
    for (const name of ['eve', 'bob', 'approver', 'discord'] as const) {
      const { chat, streams } = chatAt(tools.url, name, key);
      await chat.resumeStream();
      expect([name, streams[0]?.status]).toEqual([name, 404]);
    }
    expect(await Promise.all(followed)).toEqual([['You said: one two three'], ['You said: one two three']]);
  });
});

describe('a stream that cannot go on says so', () => {
  test('the gateway stops: an error at once, and the turn goes on at another one', async () => {
    const tools = await startTools({ gateways: 2 });
    const { chat, sent, streams } = await inTheMiddle(tools, 'stopping');
    await tools.gateways[0]?.stop(1_000);
    await sent;
    expect([chat.status, chat.error?.message]).toEqual(['error', 'the gateway is shutting down; running turns continue']);
    expect(framesOf(streams[0]?.text ?? '').at(-1)).toBe('[DONE]');
    const page = chatAt(tools.gateways[1]?.url ?? '', 'owner', 'stopping');
    await page.chat.resumeStream();
    expect(shown(page.chat.lastMessage)).toEqual(whole);
  });

  test('the token ends: an error, and nothing more is told', async () => {
    const tools = await startTools();
    const made = (await tools.as.admin('POST', '/v1/tokens', { body: { role: 'owner', label: 'short' } })).body;
    const key = 'agent:main:cli:short';
    const response = await fetch(`${tools.url}/v1/ui/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: key, messages: [{ role: 'user', id: 'm', parts: [{ type: 'text', text: slow }] }] }),
    });
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(decodeURIComponent(response.headers.get('x-natter-session') ?? '')).toBe(key);
    await tools.as.admin('DELETE', `/v1/tokens/${made.id}`);
    const frames = framesOf(await response.text());
    expect(JSON.parse(frames.at(-2) ?? '{}')).toMatchObject({ type: 'error' });
    expect(frames.at(-1)).toBe('[DONE]');
    await tools.until(async () => expect(await tools.eventsOf(key, 'turn_completed')).toHaveLength(1));
  });
});
