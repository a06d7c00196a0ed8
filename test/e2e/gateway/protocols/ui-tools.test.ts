import type { DynamicToolUIPart } from 'ai';
import { describe, expect, test } from 'vitest';
import { pathOf } from '../setup.ts';
import { chatAt, shown, startTools, writing } from './ui-rig.ts';

/** Issue 5: calls of tools and approvals in the UI message stream, with the AI SDK's own chat, unmodified. */

const keyIn = (message: { metadata?: unknown } | undefined): string =>
  (message?.metadata as { sessionKey: string } | undefined)?.sessionKey ?? '';
const typesOf = (chunks: readonly { type: string }[]): string[] =>
  chunks.map(({ type }) => type).filter((type) => !type.startsWith('text-') && !type.endsWith('-step'));

/** A part of a message that shows a call which a person is asked about. */
type Asked = DynamicToolUIPart & { readonly approval: { readonly id: string } };

/** A chat that waits for a person's word, and the approval's id. */
const asked = async (rules?: object[]) => {
  const tools = await startTools({ ...(rules && { rules }) });
  const talk = chatAt(tools.url, 'owner', 'asking');
  await talk.chat.sendMessage({ text: `${writing('one')} done?` });
  const part = talk.chat.lastMessage?.parts.find(({ type }) => type === 'dynamic-tool') as Asked;
  return { tools, ...talk, part, approvalId: part.approval.id };
};

describe('a call', () => {
  test('is told with its input and its output, as one that the agent runs itself', async () => {
    const tools = await startTools({ rules: [] });
    const { chat, chunks } = chatAt(tools.url, 'owner', 'calling');
    await chat.sendMessage({ text: `${writing('one')} done?` });
    expect(shown(chat.lastMessage)).toEqual([
      'step 1 of 2',
      ['write_file', 'output-available'],
      expect.stringMatching('You said: done'),
    ]);
    const part = chat.lastMessage?.parts.find(({ type }) => type === 'dynamic-tool');
    expect(part).toMatchObject({
      input: { path: 'note.md', content: 'one' },
      providerExecuted: true,
      output: expect.any(String),
    });
    expect(typesOf(await chunks())).toEqual(['start', 'tool-input-available', 'tool-output-available', 'finish']);
    expect(tools.written()).toBe('one');
  });

  test('that fails, or is denied by a rule, ends as an error', async () => {
    const { url } = await startTools({ rules: [{ tool: 'write_file', action: 'deny' }] });
    const { chat } = chatAt(url, 'owner', 'failing');
    await chat.sendMessage({ text: `${writing('one')} [[tool no_such_tool {}]] done?` });
    const states = shown(chat.lastMessage).filter((part) => Array.isArray(part));
    expect(states).toEqual([
      ['write_file', 'output-error'],
      ['no_such_tool', 'output-error'],
    ]);
    expect(chat.error).toBeUndefined();
  });
});

describe('A5/62: an approval', () => {
  test('is asked, and the stream ends; granted, the same message goes on', async () => {
    const { tools, chat, chunks, part, approvalId } = await asked();
    expect(part).toMatchObject({
      state: 'approval-requested',
      approval: { descriptor: { action: expect.stringMatching('note.md') } },
    });
    expect(typesOf(await chunks())).toEqual(['start', 'tool-input-available', 'tool-approval-request', 'finish']);
    expect([chat.status, chat.messages.length]).toEqual(['ready', 2]);
    expect(() => tools.written()).toThrow();
    await chat.addToolApprovalResponse({ id: approvalId, approved: true });
    await tools.until(() => expect(shown(chat.lastMessage)).toHaveLength(3));
    await tools.until(() => expect(chat.status).toBe('ready'));
    expect(shown(chat.lastMessage)).toEqual(['step 1 of 2', ['write_file', 'output-available'], expect.stringMatching('wrote')]);
    expect(chat.messages).toHaveLength(2);
    expect(tools.written()).toBe('one');
    expect(typesOf(await chunks())).toEqual(['start', 'tool-output-available', 'finish']);
    const [resolved] = await tools.eventsOf(keyIn(chat.lastMessage), 'approval_resolved');
    expect(resolved).toMatchObject({ verdict: 'granted', scope: 'once', by: 'token:api' });
  });

  test('denied with a reason: nothing runs, the model is told why', async () => {
    const { tools, chat, approvalId } = await asked();
    await chat.addToolApprovalResponse({ id: approvalId, approved: false, reason: 'not on Fridays' });
    await tools.until(() => expect(shown(chat.lastMessage)).toHaveLength(3));
    await tools.until(() => expect(chat.status).toBe('ready'));
    expect(shown(chat.lastMessage)).toEqual([
      ...['step 1 of 2', ['write_file', 'output-denied'], expect.stringMatching('denied .*: not on Fridays')],
    ]);
    expect(() => tools.written()).toThrow();
  });

  test('the same answer again tells what came of it; another answer is told who was first', async () => {
    const { tools, chat, chunks, streams, approvalId } = await asked();
    const before = structuredClone(chat.messages);
    await chat.addToolApprovalResponse({ id: approvalId, approved: true });
    await tools.until(() => expect(shown(chat.lastMessage)).toHaveLength(3));
    const answer = async (approved: boolean) => {
      const later = chatAt(tools.url, 'owner', 'asking', { messages: structuredClone(before) });
      await later.chat.addToolApprovalResponse({ id: approvalId, approved });
      await tools.until(() => expect(later.streams).toHaveLength(1));
      await tools.until(() => expect(later.chat.status).toMatch(/ready|error/));
      return later;
    };
    const again = await answer(true);
    expect(shown(again.chat.lastMessage)).toEqual(shown(chat.lastMessage));
    expect(await again.chunks()).toEqual(await chunks());
    const other = await answer(false);
    expect(other.streams[0]?.status).toBe(409);
    expect(other.chat.error?.message).toContain('approval_resolved');
    expect(await tools.eventsOf(keyIn(chat.lastMessage), 'tool_call_started')).toHaveLength(1);
    expect(streams).toHaveLength(2);
  });

  test('two calls that are asked about are asked one after the other', async () => {
    const tools = await startTools();
    const { chat } = chatAt(tools.url, 'owner', 'two');
    await chat.sendMessage({ text: `${writing('one')} ${writing('two')} done?` });
    const pending = () =>
      chat.lastMessage?.parts.findLast((part) => 'state' in part && part.state === 'approval-requested') as Asked;
    const states = () => shown(chat.lastMessage).filter((part) => Array.isArray(part));
    expect(states()).toEqual([['write_file', 'approval-requested']]);
    await chat.addToolApprovalResponse({ id: pending().approval.id, approved: true });
    await tools.until(() =>
      expect(states()).toEqual([
        ['write_file', 'output-available'],
        ['write_file', 'approval-requested'],
      ]),
    );
    await tools.until(() => expect(chat.status).toBe('ready'));
    await chat.addToolApprovalResponse({ id: pending().approval.id, approved: false });
    await tools.until(() =>
      expect(states()).toEqual([
        ['write_file', 'output-available'],
        ['write_file', 'output-denied'],
      ]),
    );
    await tools.until(() => expect(shown(chat.lastMessage).at(-1)).toMatch(/^You said/));
    expect(tools.written()).toBe('one');
  });

  test('a page that is opened anew while somebody is asked has the question again; answered elsewhere, the rest too', async () => {
    const { tools, approvalId } = await asked();
    const anew = chatAt(tools.url, 'owner', 'asking');
    await anew.chat.resumeStream();
    expect(shown(anew.chat.lastMessage)).toEqual(['step 1 of 2', ['write_file', 'approval-requested']]);
    await tools.as.owner('POST', `/v1/approvals/${approvalId}`, { body: { verdict: 'allow-once' } });
    await tools.settled();
    await anew.chat.addToolApprovalResponse({ id: approvalId, approved: true });
    await tools.until(() => expect(shown(anew.chat.lastMessage)).toHaveLength(3));
    expect(anew.chat.error).toBeUndefined();
  });

  test('while it is open no message is taken that would wait behind it; commands are, and the answer', async () => {
    const { tools, chat } = await asked();
    const other = chatAt(tools.url, 'owner', 'asking');
    await other.chat.sendMessage({ text: 'and now?' });
    expect([other.streams[0]?.status, other.chat.error?.message]).toEqual([409, expect.stringContaining('session_busy')]);
    await other.chat.sendMessage({ text: '/stop' });
    expect([other.chat.status, other.streams[1]?.status]).toEqual(['ready', 200]);
    expect(await tools.eventsOf(keyIn(chat.lastMessage), 'turn_aborted')).toHaveLength(1);
    expect(await tools.eventsOf(keyIn(chat.lastMessage), 'user_message')).toHaveLength(1);
  });

  test('A8/89: whoever may not answer is refused, and an approval that is not there is unknown', async () => {
    const tools = await startTools();
    const key = 'agent:main:telegram:default:dm:1';
    await tools.say('telegram:1', writing('one'));
    await tools.until(async () => expect(await tools.eventsOf(key, 'approval_requested')).toHaveLength(1));
    const [request] = await tools.eventsOf(key, 'approval_requested');
    const body = (approvalId: string, id = key) => {
      const part = { type: 'dynamic-tool', state: 'approval-responded', approval: { id: approvalId, approved: true } };
      return { body: { id, messages: [{ id: 'm', role: 'assistant', parts: [part] }] } };
    };
    const told = async (name: 'ann' | 'eve' | 'owner', given: object) => {
      const { status, body: problem } = await tools.as[name]('POST', '/v1/ui/chat', given);
      return [status, problem.code];
    };
    const { approvalId = '' } = request ?? {};
    expect(await told('ann', body(approvalId))).toEqual([403, 'approval_forbidden']);
    expect(await told('eve', body(approvalId))).toEqual([404, 'not_found']);
    expect(await told('owner', body('nothing'))).toEqual([404, 'approval_unknown']);
    expect(await told('owner', body(approvalId, 'agent:main:main'))).toEqual([404, 'approval_unknown']);
    expect((await tools.as.owner('GET', pathOf(key))).body.questions).toMatchObject([{ approvalId }]);
  });
});
