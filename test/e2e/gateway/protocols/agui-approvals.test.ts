import { beforeEach, describe, expect, test, vi } from 'vitest';
import { agentAt, endOf, shown, typesOf } from './agui-rig.ts';
import { startTools, writing } from './ui-rig.ts';

/** Issue 5: approvals as interrupts of AG-UI 1.0, with its own client, unmodified. */

/** The client writes of each refusal there. */
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

describe('A5/62: an approval', () => {
  const asked = async (thread = 'asking') => {
    const tools = await startTools();
    const talk = agentAt(tools.url, 'owner', thread);
    const events = await talk.say(`${writing('one')} done?`, { runId: 'r1' });
    return { tools, ...talk, asking: endOf(events) };
  };

  test('is the interrupt that ends the run; the next one carries the answer and goes on', async () => {
    const { tools, agent, answer, asking } = await asked();
    expect(asking.outcome).toMatchObject({
      type: 'interrupt',
      interrupts: [
        {
          ...{ reason: 'tool_call', message: expect.stringContaining('note.md'), expiresAt: expect.stringMatching(/Z$/) },
          ...{ toolCallId: expect.any(String), responseSchema: { required: ['approved'] }, metadata: { tool: 'write_file' } },
        },
      ],
    });
    expect(() => tools.written()).toThrow();
    const rest = await answer({ approved: true }, { runId: 'r2' });
    expect(typesOf(rest).filter((type) => type.startsWith('TOOL'))).toEqual(['TOOL_CALL_RESULT']);
    const { outcome, runId, usage } = endOf(rest);
    expect([outcome, runId]).toEqual([{ type: 'success' }, 'r2']);
    const steps = await tools.eventsOf(asking.result.sessionKey, 'model_step');
    expect([asking, { usage }].map((end) => end.usage?.[0]?.totalTokens)).toEqual(steps.map((step) => step.usage.totalTokens));
    expect(shown(agent).slice(1)).toEqual([
      ['assistant', 'step 1 of 2', ['write_file']],
      ['tool', expect.stringContaining('note.md')],
      ['assistant', expect.stringMatching('wrote')],
    ]);
    expect(tools.written()).toBe('one');
  });

  test.each([
    ['denied', { approved: false, reason: 'not on Fridays' }, /denied by the owner, over the API: not on Fridays/],
    ['given up', null, /denied by the owner, over the API/],
  ])('%s: nothing runs, and the model is told', async (_, payload, told) => {
    const { tools, agent, answer } = await asked();
    expect(endOf(await answer(payload)).outcome).toEqual({ type: 'success' });
    expect(shown(agent).slice(2)).toEqual([
      ['tool', expect.stringMatching(told)],
      ['assistant', expect.stringMatching(told)],
    ]);
    expect(() => tools.written()).toThrow();
  });

  test('for good: the same call is not asked about again', async () => {
    const { answer, say } = await asked();
    await answer({ approved: true, always: true });
    expect(endOf(await say(`${writing('one')} done?`)).outcome).toEqual({ type: 'success' });
  });

  test('the same answer again goes on the same way; another one, one that is unknown and one to nobody are refused', async () => {
    const { tools, agent, answer, asking } = await asked('agent:main:cli:once');
    const [interrupt] = agent.pendingInterrupts;
    const rest = await answer({ approved: true }, { runId: 'r2' });
    const again = (interruptId: string, payload: object, name: 'owner' | 'eve' = 'owner') =>
      agentAt(tools.url, name, 'agent:main:cli:once').run({
        runId: 'r2',
        resume: [{ interruptId, status: 'resolved', payload }],
      });
    const results = (events: typeof rest) => events.filter(({ type }) => type !== 'TEXT_MESSAGE_CONTENT');
    expect(results(await again(interrupt?.id ?? '', { approved: true }))).toEqual(results(rest));
    const refused = (status: number, code: string) => ({ status, message: expect.stringContaining(code) });
    await expect(again(interrupt?.id ?? '', { approved: false })).rejects.toMatchObject(refused(409, 'approval_resolved'));
    await expect(again('nothing', { approved: true })).rejects.toMatchObject(refused(404, 'approval_unknown'));
    await expect(again(interrupt?.id ?? '', { approved: true }, 'eve')).rejects.toMatchObject(refused(404, 'not_found'));
    expect(await tools.eventsOf(asking.result.sessionKey, 'tool_call_started')).toHaveLength(1);
  });

  test('while it is open no other message is taken; the run that asks may be told again', async () => {
    const { tools } = await asked('agent:main:cli:open');
    const other = agentAt(tools.url, 'owner', 'agent:main:cli:open');
    await expect(other.say('never mind')).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('session_busy'),
    });
    // What is refused leaves nothing behind.
    const context = [{ description: 'The page', value: 'settings' }];
    await expect(other.say('never mind', { context })).rejects.toMatchObject({ status: 409 });
    const same = agentAt(tools.url, 'owner', 'agent:main:cli:open');
    expect(endOf(await same.say(`${writing('one')} done?`, { runId: 'r1', context })).outcome).toMatchObject({
      type: 'interrupt',
    });
    expect(await tools.eventsOf('agent:main:cli:open', 'user_message')).toHaveLength(1);
  });
});
