import { type UIMessage, validateUIMessages } from 'ai';
import { expect, test } from 'vitest';
import { onceForFile } from '../../../../support/afterwards.ts';
import { pathOf } from '../../setup.ts';
import { chatAt, shown, startTools, writing } from '../ui-rig.ts';

/** A page of the AI SDK that is loaded again, has an answer made anew, and edits what was said. Each test has a chat of its own. */

const system = onceForFile(() => startTools());
const loaded = async (id: string): Promise<UIMessage[]> => {
  const { body } = await system().as.owner('GET', `/v1/ui/chat/${id}/messages`);
  return validateUIMessages({ messages: body.messages });
};
const textsOf = (messages: readonly UIMessage[]) => messages.map((message) => [message.role, ...shown(message)]);

test('what is loaded is what the page had, ids, calls, approvals and metadata included', async () => {
  const { chat } = chatAt(system().url, 'owner', 'reload');
  await chat.sendMessage({ text: 'hello' });
  await chat.sendMessage({ text: `${writing('milk')} shopping` });
  const asked = chat.lastMessage?.parts.findLast((part) => part.type === 'dynamic-tool');
  // What waits comes with the stream, and not twice.
  expect((await loaded('reload')).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  await chat.addToolApprovalResponse({ id: asked?.approval?.id ?? '', approved: true });
  await system().until(() => expect(chat.status).toBe('ready'));
  const messages = await loaded('reload');
  expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
  expect(textsOf(messages)).toEqual(textsOf(chat.messages));
  expect(messages.at(-1)?.metadata).toEqual(chat.messages.at(-1)?.metadata);
  const again = chatAt(system().url, 'owner', 'reload', { messages });
  await again.chat.sendMessage({ text: 'and now?' });
  expect(textsOf(await loaded('reload'))).toEqual(textsOf(again.chat.messages));
});

test('regenerate() answers the last message anew; what was answered before stays in the log alone', async () => {
  const { chat } = chatAt(system().url, 'owner', 'anew');
  await chat.sendMessage({ text: 'one' });
  await chat.sendMessage({ text: 'two' });
  const before = chat.lastMessage?.id;
  await chat.regenerate();
  expect(chat.lastMessage?.id).not.toBe(before);
  const said = [
    ['user', 'one'],
    ['assistant', 'You said: one'],
    ['user', 'two'],
    ['assistant', 'You said: two'],
  ];
  expect(textsOf(chat.messages)).toEqual(said);
  const messages = await loaded('anew');
  expect(textsOf(messages)).toEqual(said);
  expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
  const { sessionKey: key = '' } = { ...(messages.at(-1)?.metadata as { sessionKey?: string }) };
  // A repeat of the same request is the same answer, and no other.
  const last = messages.slice(0, -1);
  const body = { id: 'anew', trigger: 'regenerate-message', messageId: before, messages: last };
  const unsaid = { ...last.at(-1), id: 'never-said' };
  const refused = await system().as.owner('POST', '/v1/ui/chat', { body: { ...body, messages: [unsaid] } });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid', field: 'messages.0.id' } });
  const repeated = await system().as.owner('POST', '/v1/ui/chat', { body });
  expect(repeated.text).toContain(`"messageId":"${chat.lastMessage?.id}"`);
  expect(await system().eventsOf(key, 'session_reset')).toHaveLength(1);
  expect((await system().as.owner('GET', pathOf(key, '/messages'))).body.messages).toHaveLength(6);
});

test('an edited message goes on from where it was said, the first one from nothing', async () => {
  const { chat } = chatAt(system().url, 'owner', 'edited');
  await chat.sendMessage({ text: 'one' });
  await chat.sendMessage({ text: 'two' });
  const [first, , second] = chat.messages;
  await chat.sendMessage({ text: 'three', messageId: second?.id ?? '' });
  const said = [
    ['user', 'one'],
    ['assistant', 'You said: one'],
    ['user', 'three'],
    ['assistant', 'You said: three'],
  ];
  expect(textsOf(chat.messages)).toEqual(said);
  expect(textsOf(await loaded('edited'))).toEqual(said);
  await chat.sendMessage({ text: 'zero', messageId: first?.id ?? '' });
  expect(textsOf(await loaded('edited'))).toEqual([
    ['user', 'zero'],
    ['assistant', 'You said: zero'],
  ]);
});
