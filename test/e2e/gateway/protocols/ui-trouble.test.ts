import { expect, test, vi } from 'vitest';
import { fakeTools } from '../../../support/fake-tools.ts';
import { startWhole } from '../../system/whole.ts';
import { callerOf, openBroker, openGateway, pathOf } from '../setup.ts';
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
  const ports = memory.portsFor('gateway');
  const gateway = await openGateway(ports);
  const call = callerOf(gateway.url);
  await vi.waitFor(async () => expect((await call('GET', '/readyz')).status).toBe(200));
  const answer = call('POST', path, { body });
  await vi.waitFor(async () => expect(await ports.commands.lag()).toBe(1));
  await gateway.stop(1_000);
  const { status, text } = await answer;
  expect([status, status === 200 ? framesOf(text) : JSON.parse(text).code]).toEqual([503, 'unavailable']);
});

test('a call that was granted and then cut off by /stop has ended for the page too, which would ask what became of it for ever', async () => {
  const tools = fakeTools({ name: 'slow', usual: 'ask', run: () => new Promise(() => {}) });
  const { gateways, until, eventsOf, as } = await startWhole({ tools });
  const { chat, streams, chunks } = chatAt(gateways[0]?.url ?? '', 'owner', 'agent:main:cli:cut');
  await chat.sendMessage({ text: '[[tool slow {}]] done?' });
  const [asked] = await eventsOf('agent:main:cli:cut', 'approval_requested');
  await chat.addToolApprovalResponse({ id: asked?.approvalId ?? '', approved: true });
  await until(async () => expect(await eventsOf('agent:main:cli:cut', 'tool_call_started')).toHaveLength(1));
  await as.owner('POST', pathOf('agent:main:cli:cut', '/stop'), { body: {} });
  await until(() => expect(shown(chat.lastMessage).at(-1)).toEqual(['slow', 'output-error']));
  await until(() => expect(chat.status).toBe('ready'));
  expect((await chunks()).map(({ type }) => type)).toEqual(['start', 'tool-output-error', 'abort', 'finish']);
  expect(streams).toHaveLength(2);
});
