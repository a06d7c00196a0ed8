import type { HttpAgent } from '@ag-ui/client';
import { expect, test } from 'vitest';
import { onceForFile } from '../../../../support/afterwards.ts';
import { agentAt, endOf, shown, typesOf } from '../agui-rig.ts';
import { startTools, writing } from '../ui-rig.ts';

/** A page of AG-UI that is loaded again, with the official client: a run without messages. Each test has a thread of its own. */

const system = onceForFile(() => startTools());
const at = (thread: string) => agentAt(system().url, 'owner', thread);
const said = ({ messages }: HttpAgent) => messages;

test('what is loaded is what the page had, ids, calls and their results included', async () => {
  const { agent, say, answer } = at('reloaded');
  await say('hello', { id: 'my-own-id' });
  await say(`${writing('milk')} shopping`);
  await answer({ approved: true });
  const page = at('reloaded');
  const events = await page.run();
  expect(typesOf(events)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
  expect(endOf(events)).toMatchObject({ outcome: { type: 'success' }, result: { sessionKey: expect.any(String) } });
  expect(said(page.agent)).toEqual(said(agent));
  expect(said(page.agent).map(({ id, role }) => [role, id])[0]).toEqual(['user', 'my-own-id']);
  expect(said(page.agent).map(({ role }) => role)).toContain('tool');
  await page.say('and now?');
  const again = at('reloaded');
  await again.run();
  expect(said(again.agent)).toEqual(said(page.agent));
  expect(shown(again.agent).slice(-2)).toEqual([
    ['user', 'and now?'],
    ['assistant', 'You said: and now?'],
  ]);
});

test('a turn that awaits approval comes after what was said, once, and can be answered', async () => {
  const { agent, say } = at('asked');
  await say(`${writing('milk')} shopping`);
  const page = at('asked');
  const events = await page.run();
  expect(endOf(events).outcome?.type).toBe('interrupt');
  expect(page.agent.pendingInterrupts).toEqual(agent.pendingInterrupts);
  expect(said(page.agent)).toEqual(said(agent));
  expect(endOf(await page.answer({ approved: true })).outcome).toEqual({ type: 'success' });
  expect(shown(page.agent).at(-1)).toEqual(['assistant', expect.stringContaining('shopping')]);
});

test('a turn that runs goes on in the page that is loaded again', async () => {
  const first = at('running');
  const left = first.say('[[think 3000]] slow').catch(() => null);
  await system().until(() => expect(typesOf(first.events)).toContain('RUN_STARTED'));
  const page = at('running');
  expect(endOf(await page.run()).outcome).toEqual({ type: 'success' });
  await left;
  expect(said(page.agent)).toEqual(said(first.agent));
  expect(shown(page.agent).at(-1)).toEqual(['assistant', 'You said: slow']);
});

test('a thread that nobody has written to is empty, and nothing is recorded of it', async () => {
  const page = at('agent:main:cli:untouched');
  expect(endOf(await page.run()).outcome).toEqual({ type: 'success' });
  expect(said(page.agent)).toEqual([]);
  expect((await system().as.owner('GET', '/v1/sessions/agent%3Amain%3Acli%3Auntouched')).status).toBe(404);
});
