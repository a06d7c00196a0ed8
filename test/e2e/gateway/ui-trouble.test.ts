import { expect, test, vi } from 'vitest';
import { callerOf, openBroker, startDoor } from './setup.ts';
import { chatAt, framesOf, shown, startTools } from './ui-rig.ts';

/** Issue 5: what UI message streams do when things go wrong that their clients cannot see. */

test.each(['/new', '/new hello', '/status'])('I2, A11: %s sent twice is one command, told both times', async (text) => {
  const tools = await startTools();
  await chatAt(tools.url, 'owner', 'again').chat.sendMessage({ text: 'before' });
  const message = { id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] };
  const answers: unknown[] = [];
  for (let time = 0; time < 2; time++) {
    const { chat } = chatAt(tools.url, 'owner', 'again');
    await chat.sendMessage(message);
    expect(chat.error).toBeUndefined();
    answers.push(shown(chat.lastMessage));
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]).not.toEqual([]);
});

test.each([
  ['/v1/ui/chat', { id: 'c', messages: [{ role: 'user', id: 'm', parts: [{ type: 'text', text: 'hello' }] }] }],
  ['/v1/agui', { threadId: 'c', runId: 'r', messages: [{ role: 'user', id: 'm', content: 'hello' }] }],
])('%s: a gateway that stops before there is anything to tell gives no empty answer', async (path, body) => {
  const memory = openBroker();
  const ports = await memory.portsFor('gateway');
  const gateway = await startDoor(ports);
  const call = callerOf(gateway.url);
  await vi.waitFor(async () => expect((await call('GET', '/readyz')).status).toBe(200));
  const answer = call('POST', path, { body });
  await vi.waitFor(async () => expect(await ports.commands.lag()).toBe(1));
  await gateway.stop(1_000);
  const { status, text } = await answer;
  expect([status, status === 200 ? framesOf(text) : JSON.parse(text).code]).toEqual([503, 'unavailable']);
});
