import { describe, expect, test } from 'vitest';
import { loadState } from '../../../../services/session/host/load.ts';
import type { CommandOf } from '../../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { command } from '../../../support/domain/given.ts';
import { type FakeTool, fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, post, type Rig, type RigOptions, rig } from '../rig.ts';
import { heardIn, type Line, rowsOf, script } from '../script.ts';

const owner: Sender = { id: 'olga', role: 'owner', principal: 'olga' };
let answers = 0;
const answer = (change: Partial<CommandOf<'resolve_approval'>>, at = 1_790_000_000_050): CommandEnvelope => ({
  ...command('stop', `answer-${++answers}`),
  key: homeKey,
  at,
  data: { type: 'resolve_approval', approvalId: 'approval-1', verdict: 'granted', by: owner, ...change },
});
const mail: FakeTool = { name: 'mail', idempotent: false, usual: 'ask' };
const put: FakeTool = { name: 'put' };

const asking = async (tool: FakeTool, lines: readonly Line[], options: RigOptions = {}) => {
  const tools = fakeTools(tool, put);
  const model = script(lines);
  const made = rig({ model: () => model, tools: () => tools, ...options });
  await made.take(post('go', 'm'));
  await made.clock.pass(10);
  return { made, tools, model, rows: () => rowsOf(made.events()) };
};
const status = async ({ ports }: Rig) => (await loadState(ports, homeKey)).machine.value;
const askedLast = (made: Rig): string => {
  const last = made.events().at(-1);
  return last?.type === 'approval_requested' ? last.approvalId : 'nobody is asked';
};
/** All hosts are gone and another one comes. */
const restarted = async (made: Rig): Promise<void> => {
  made.host.close();
  made.restart();
  await made.host.recover(homeKey);
  await made.clock.pass(10);
};

describe('a call that a person must allow (A5/62, I7)', () => {
  test('waits with nothing in memory, and one commit asks', async () => {
    const { made, tools, rows } = await asking(mail, [['mail {"to":"bob"}'], 'sent']);
    expect(rows()).toEqual(['model_step m/1 1 continue', 'approval_requested m/1 approval-1']);
    expect(made.system.events.stored()).toHaveLength(2);
    expect(made.events().at(-1)).toMatchObject({
      action: 'mail {"to":"bob"}',
      asks: 'run',
      expiresAt: 1_790_000_000_000 + 3 * 24 * 60 * 60_000,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      approvers: [],
    });
    expect([tools.effects, made.host.turns.running, await status(made)]).toEqual([[], 0, 'awaiting_approval']);
  });

  test('nobody is asked about a call whose arguments are wrong: the model is told the fault, and the right call is asked about', async () => {
    const faultIn = (given: unknown) => (Object.hasOwn(given as object, 'to') ? null : 'wrong arguments: to: is missing');
    const { made, tools, rows, model } = await asking({ ...mail, faultIn }, [['mail {}'], ['mail {"to":"bob"}'], 'sent']);
    expect(rows()).toEqual([
      ...['model_step m/1 1 continue', 'tool_result m/1 m.1.0 error'],
      ...['model_step m/1 2 continue', 'approval_requested m/1 approval-1'],
    ]);
    expect(JSON.stringify(model.requests[1])).toContain('wrong arguments: to: is missing');
    expect([tools.effects, await status(made)]).toEqual([[], 'awaiting_approval']);
  });

  test('runs once it is allowed, also after every host was restarted', async () => {
    const { made, tools, rows } = await asking(mail, [['mail {"to":"bob"}'], 'sent']);
    await restarted(made);
    await made.take(answer({}));
    await made.clock.pass(10);
    expect(tools.effects).toEqual(['mail m.1.0']);
    expect(rows().slice(2)).toEqual([
      'approval_resolved m/2 approval-1 granted',
      'tool_call_started m/2 m.1.0 #1',
      'tool_result m/2 m.1.0 ok',
      'model_step m/2 2 stop',
      'assistant_message m/2',
      'turn_completed m/2',
    ]);
  });

  test('does not run when it is denied, and the model sees the reason', async () => {
    const { made, tools, model } = await asking(mail, [['mail'], 'sorry']);
    await made.take(answer({ verdict: 'denied', reason: 'not on Sundays' }));
    await made.clock.pass(10);
    expect(tools.effects).toEqual([]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      outcome: 'denied',
      text: expect.stringContaining('not on Sundays'),
    });
  });

  test('runs once when two answer at the same time: the first counts', async () => {
    const { made, tools, rows } = await asking(mail, [['mail'], 'sent']);
    await Promise.all([made.take(answer({})), made.take(answer({ verdict: 'denied' }))]);
    await made.clock.pass(10);
    expect(tools.effects).toEqual(['mail m.1.0']);
    expect(rows().filter((row) => row.startsWith('approval_resolved'))).toEqual(['approval_resolved m/2 approval-1 granted']);
  });

  test('waits for the others of its step, which run meanwhile', async () => {
    const { made, tools, rows } = await asking(mail, [['mail', 'put'], 'sent']);
    expect(rows()).toEqual([
      'model_step m/1 1 continue',
      'tool_call_started m/1 m.1.1 #1',
      'tool_result m/1 m.1.1 ok',
      expect.stringMatching(/^approval_requested m\/1 /),
    ]);
    await made.take(answer({ approvalId: askedLast(made) }));
    await made.clock.pass(10);
    expect(tools.effects).toEqual(['put m.1.1', 'mail m.1.0']);
    expect(rows().at(-1)).toBe('turn_completed m/2');
  });

  test('is asked about one at a time', async () => {
    const { made, tools, rows } = await asking(mail, [['mail {"n":1}', 'mail {"n":2}'], 'sent']);
    expect(rows().filter((row) => row.startsWith('approval_requested'))).toHaveLength(1);
    await made.take(answer({}));
    await made.clock.pass(10);
    expect(made.events().at(-1)).toMatchObject({ type: 'approval_requested', callId: 'm.1.1' });
    expect(tools.effects).toEqual(['mail m.1.0']);
    await made.take(answer({ approvalId: askedLast(made) }));
    await made.clock.pass(10);
    expect(tools.effects).toEqual(['mail m.1.0', 'mail m.1.1']);
    expect(rows().at(-1)).toBe('turn_completed m/3');
  });

  test('and is allowed for good is not asked about again, with other arguments it is; a tool for once only always is', async () => {
    const lines: Line[] = [['mail {"a":1,"b":2}'], ['mail {"b":2,"a":1}'], ['mail {"a":2}']];
    const { made, tools } = await asking(mail, lines);
    await made.take(answer({ scope: 'always' }));
    await made.clock.pass(10);
    expect(tools.effects).toEqual(['mail m.1.0', 'mail m.2.0']);
    expect(made.events().at(-1)).toMatchObject({ type: 'approval_requested', callId: 'm.3.0' });

    const once = await asking({ ...mail, onceOnly: true }, lines);
    await once.made.take(answer({ scope: 'always' }));
    await once.made.clock.pass(10);
    expect(once.made.events().at(-1)).toMatchObject({ type: 'approval_requested', callId: 'm.2.0' });
  });

  test('names who may answer: the owner, and whom the rule names', async () => {
    const settings = { tools: { rules: [{ tool: 'mail', action: 'ask', approvers: ['carl'] }] } };
    const { made, tools } = await asking(mail, [['mail'], 'sent'], { settings });
    const carl: Sender = { id: '7', role: 'participant', principal: 'carl' };
    await made.take(answer({ by: { ...carl, principal: 'dora' } }));
    await made.clock.pass(10);
    expect(tools.effects).toEqual([]);
    await made.take(answer({ by: carl }));
    await made.clock.pass(10);
    expect(tools.effects).toEqual(['mail m.1.0']);
  });

  test('expires: the sweep finds the deadline in the index, no timer does', async () => {
    const { made, tools, model } = await asking(mail, [['mail'], 'too late'], { settings: { tools: { approvalMinutes: 1 } } });
    await made.host.expire(homeKey, 'approval-1');
    expect(made.events().at(-1)?.type).toBe('approval_requested');
    await made.clock.pass(60_001);
    await restarted(made);
    expect(made.events().at(-1)?.type).toBe('approval_requested');
    await Promise.all([made.host.expire(homeKey, 'approval-1'), made.host.expire(homeKey, 'approval-1')]);
    await made.clock.pass(10);
    expect(tools.effects).toEqual([]);
    expect(heardIn(model.requests.at(-1) as never)).toBe('go [mail] m.1.0=expired');
    expect(made.events().at(-1)?.type).toBe('turn_completed');
    // The index lags: it still shows what waits no more.
    await made.host.expire(homeKey, 'approval-1');
    expect(made.events().at(-1)?.type).toBe('turn_completed');
  });

  test.each(['hash', 'arguments'])('does not run when the log has it with another %s than what was allowed', async (what) => {
    const { made, tools } = await asking(mail, [['mail {"to":"bob"}'], 'sorry']);
    const { events } = made;
    // The log was changed by someone who may write to it.
    for (const event of events()) {
      if (what === 'hash' && event.type === 'approval_requested') Object.assign(event, { hash: 'f'.repeat(64) });
      if (what === 'arguments' && event.type === 'model_step')
        Object.assign(event.calls?.[0] ?? {}, { arguments: '{"to":"eve"}' });
    }
    await restarted(made);
    await made.take(answer({}));
    await made.clock.pass(10);
    expect(tools.effects).toEqual([]);
    const error = { type: 'tool_result', outcome: 'error', text: expect.stringContaining('not this call with these arguments') };
    expect(events()).toContainEqual(expect.objectContaining(error));
    expect(events().at(-1)?.type).toBe('turn_completed');
  });

  test.each([
    ['nothing', 2, 'ok'],
    ['hash', 1, 'error'],
    ['arguments', 1, 'error'],
  ])(
    'that is cut off runs again only as it was allowed, also if it may be repeated (I7): changed is %s, it runs %i times',
    async (what, runs, outcome) => {
      let begun = 0;
      const run = () =>
        ++begun === 1 ? new Promise<never>(() => {}) : Promise.resolve({ outcome: 'ok', text: 'sent' } as const);
      const { made, tools } = await asking({ ...mail, idempotent: true, run }, [['mail {"to":"bob"}'], 'done']);
      await made.take(answer({}));
      await made.clock.pass(10);
      expect([begun, rowsOf(made.events()).at(-1)]).toEqual([1, 'tool_call_started m/2 m.1.0 #1']);
      for (const event of made.events()) {
        if (what === 'hash' && event.type === 'approval_requested') Object.assign(event, { hash: 'f'.repeat(64) });
        if (what === 'arguments' && event.type === 'model_step')
          Object.assign(event.calls?.[0] ?? {}, { arguments: '{"to":"eve"}' });
      }
      await restarted(made);
      expect(tools.runs.map((each) => each.arguments)).toEqual(Array.from({ length: runs }, () => ({ to: 'bob' })));
      expect(made.events()).toContainEqual(expect.objectContaining({ type: 'tool_result', callId: 'm.1.0', outcome }));
      expect(made.events().at(-1)?.type).toBe('turn_completed');
    },
  );

  test('and that starts a run elsewhere names the run when it is allowed (A11/125)', async () => {
    const spawn = { key: 'agent:main:subagent:1', runId: 'run-1' };
    const { made } = await asking({ ...mail, spawns: () => spawn }, [['mail'], 'done']);
    await made.take(answer({}));
    await made.clock.pass(10);
    expect(made.events()).toContainEqual(expect.objectContaining({ type: 'tool_call_started', spawn }));
  });

  const says = (id: string, sender: Sender, mode?: string): CommandEnvelope => {
    const message = { messageId: id, text: id, sender };
    const queue = mode === undefined ? {} : { queue: { mode } };
    return {
      ...command('stop', id),
      key: homeKey,
      data: { type: 'post_message', sessionId: 's1', message, ...queue } as never,
    };
  };
  const program = (id: string): Sender => ({ id, role: 'program', principal: id });
  const bob: Sender = { id: '8', role: 'participant', principal: 'bob' };

  test("and is allowed for good for one person's calls is asked about when it is another's", async () => {
    const tools = fakeTools(mail);
    const made = rig({ model: () => script([['mail'], 'sent', ['mail'], 'sent', ['mail'], 'sent']), tools: () => tools });
    await made.take(says('one', owner));
    await made.clock.pass(10);
    await made.take(answer({ scope: 'always' }));
    await made.clock.pass(10);
    await made.take(says('two', { ...owner, id: 'elsewhere' }));
    await made.clock.pass(10);
    expect(tools.effects).toEqual(['mail one.1.0', 'mail two.1.0']);
    await made.take(says('three', { id: 'job', role: 'program' }));
    await made.clock.pass(10);
    expect(tools.effects).toHaveLength(2);
    expect(made.events().at(-1)).toMatchObject({ type: 'approval_requested', callId: 'three.1.0' });
  });

  test.each([
    [
      'a program is no asker for another',
      { action: 'ask', approvers: ['asker'] },
      [program('one'), program('two')],
      'approval_requested',
    ],
    [
      'what is denied to a program is denied to it and the owner',
      { role: 'program', action: 'deny' },
      [owner, { id: 'job', role: 'program' }],
      'turn_completed',
    ],
    [
      'what is denied to participants is denied to their programs',
      { role: 'participant', action: 'deny' },
      [{ id: 'job', role: 'program', onBehalfOf: 'participant' }],
      'turn_completed',
    ],
  ] as const)('counts for all who have a part in the turn: %s', async (_, rule, senders, last) => {
    const tools = fakeTools({ ...mail, usual: 'allow' });
    const settings = { tools: { rules: [{ tool: 'mail', ...rule }] } } as never;
    const slow = (): Model => {
      const lines = script(['first', ['mail'], 'done']);
      return {
        ...lines,
        step: async (request, onText, signal) => {
          if (request.step === 1) await made.clock.sleep(100);
          return lines.step(request, onText, signal);
        },
      };
    };
    const made: Rig = rig({ model: slow, tools: () => tools, settings });
    const [first, ...others] = senders;
    await made.take(says('one', first));
    for (const [index, sender] of others.entries()) await made.take(says(`more-${index}`, sender, 'steer'));
    if (others.length === 0) await made.take(says('again', owner, 'steer'));
    await made.clock.pass(200);
    expect(tools.effects).toEqual([]);
    expect(made.events().at(-1)?.type).toBe(last);
    if (last === 'approval_requested') {
      expect(made.events().at(-1)).toMatchObject({ approvers: [], onceOnly: true });
      await made.take(answer({ approvalId: askedLast(made), by: bob }));
      await made.clock.pass(10);
      expect(tools.effects).toEqual([]);
    }
  });
});
