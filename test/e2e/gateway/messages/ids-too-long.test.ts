import { expect, test } from 'vitest';
import { onceForFile } from '../../../support/afterwards.ts';
import { startWhole } from '../../system/whole.ts';
import { clientFor, failureOf } from '../protocols/openai-rig.ts';

/** What no session could read as a command is refused before it is one: it would be a dead letter, and its caller would wait for an answer. */

const system = onceForFile(async () => {
  const whole = await startWhole();
  return { whole, openai: clientFor(whole.gateways[0]?.url ?? '') };
});
const expectNoDeadLetters = async () => {
  const { body } = await system().whole.as.owner('GET', '/v1/dead-letters');
  expect(body.deadLetters).toEqual([]);
};
const long = 'x'.repeat(300);
const output = (call_id: string) => ({ type: 'function_call_output' as const, call_id, output: 'done' });

test.each([
  ['more results than a step has calls', Array.from({ length: 33 }, (_, index) => output(`call_${index}`))],
  ['the result of a call with a long id', [output(`call_${long}`)]],
])('%s: as results that nobody waits for, or as text beside a message', async (_, results) => {
  const { openai } = system();
  const asked = { model: 'natter', conversation: 'agent:main:api:made-elsewhere' };
  const ask = (input: object[]) =>
    openai.responses.create({ ...asked, input: input as never }, { headers: { Prefer: 'wait=2' } });
  expect(await failureOf(ask(results))).toMatchObject({ status: 409, code: 'results_unexpected' });
  expect((await ask([...results, { role: 'user', content: 'and now?' }])).output_text).toContain('and now?');
  await expectNoDeadLetters();
});

test.each([
  ['/v1/ui/chat', { id: 'c', messages: [{ role: 'user', id: long, parts: [{ type: 'text', text: 'hello' }] }] }],
  ['/v1/agui', { threadId: 'c', runId: 'r', messages: [{ role: 'user', id: long, content: 'hello' }] }],
])('%s: a long id of a message', async (path, body) => {
  const { status } = await system().whole.as.owner('POST', path, { body, signal: AbortSignal.timeout(8_000) });
  expect(status).toBe(400);
  await expectNoDeadLetters();
});

test('a long id of an approval in a session that is named', async () => {
  const { whole, openai } = system();
  const sessionKey = 'agent:main:api:asks-nothing';
  await openai.responses.create({ model: 'natter', input: 'hello', conversation: sessionKey });
  const body = { verdict: 'deny', sessionKey };
  const { status, body: problem } = await whole.as.owner('POST', `/v1/approvals/${long}`, { body });
  expect([status, problem.code]).toEqual([404, 'approval_unknown']);
  await expectNoDeadLetters();
});
