import { describe, expect, test } from 'vitest';
import type { ToolEnd } from '../../../../shared/ports/tools.ts';
import { type FakeTool, type FakeTools, fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, post, type RigOptions, rig } from '../rig.ts';
import { heardIn, type Line, rowsOf, script } from '../script.ts';

/** One message to a host with these tools and a model that answers with these lines. */
const turnWith = async (tools: FakeTools, lines: readonly Line[], options: RigOptions = {}) => {
  const model = script(lines);
  const made = rig({ model: () => model, tools: () => tools, ...options });
  await made.take(post('go', 'm'));
  await made.clock.pass(10);
  return { ...made, model, tools, rows: () => rowsOf(made.events()), host: made.host };
};
const never = (): Promise<ToolEnd> => new Promise(() => {});
const put: FakeTool = { name: 'put' };
const charge: FakeTool = { name: 'charge', idempotent: false };

describe('the calls of a step (I6)', () => {
  test('begin with the step in one commit; each result is one more', async () => {
    const { rows, system, model } = await turnWith(fakeTools(put, charge), [['put {"a":1}', 'charge'], 'all done']);
    expect(rows()).toEqual([
      'model_step m/1 1 continue',
      'tool_call_started m/1 m.1.0 #1',
      'tool_call_started m/1 m.1.1 #1',
      'tool_result m/1 m.1.0 ok',
      'tool_result m/1 m.1.1 ok',
      'model_step m/1 2 stop',
      'assistant_message m/1',
      'turn_completed m/1',
    ]);
    expect(system.events.stored()).toHaveLength(5);
    expect(model.requests.map(heardIn)).toEqual(['go', 'go [put charge] m.1.0=ok m.1.1=ok']);
  });

  test('get their arguments, their id and in whose name they are made', async () => {
    const { tools } = await turnWith(fakeTools(put), [['put {"a":{"b":[1]}}'], 'done']);
    expect(tools.runs).toMatchObject([
      {
        callId: 'm.1.0',
        arguments: { a: { b: [1] } },
        scope: { key: homeKey, turn: { id: 'm', attempt: 1 }, sender: { id: 'ann' } },
      },
    ]);
  });

  test('I12: end without a secret of the installation in what is recorded, also where the tool throws', async () => {
    const hideSecrets = (text: string): string => text.replaceAll('planted-secret', '[secret]');
    const told: FakeTool = { name: 'told', run: async () => ({ outcome: 'ok', text: 'it is planted-secret' }) };
    const threw: FakeTool = { name: 'threw', run: () => Promise.reject(new Error('planted-secret is wrong')) };
    const { system, model } = await turnWith(fakeTools(told, threw), [['told', 'threw'], 'done'], { hideSecrets });
    const results = system.events.stored().flatMap(({ events }) => events.filter(({ type }) => type === 'tool_result'));
    expect(results).toMatchObject([{ text: 'it is [secret]' }, { text: '[secret] is wrong' }]);
    expect(JSON.stringify([system.events.stored(), model.requests])).not.toContain('planted-secret');
  });

  test('run at most eight at a time', async () => {
    let [running, most] = [0, 0];
    const ends: (() => void)[] = [];
    const run = async (): Promise<ToolEnd> => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
      return { outcome: 'ok', text: '' };
    };
    const calls = Array.from({ length: 20 }, () => 'slow');
    const { clock, rows } = await turnWith(fakeTools({ name: 'slow', run }), [calls, 'done']);
    for (let round = 0; round < 20; round++) {
      for (const end of ends.splice(0)) end();
      await clock.pass(1);
    }
    expect(most).toBe(8);
    expect(rows().filter((row) => row.startsWith('tool_result'))).toHaveLength(20);
    expect(rows().at(-1)).toBe('turn_completed m/1');
  });

  test.each([
    ['no such tool', '__proto__ {}', 'There is no tool "__proto__"'],
    ['malformed JSON', 'put {"a":', 'the arguments cannot be read'],
    ['no object', 'put [1]', 'must be a JSON object'],
    ['a number too large', 'put {"a":1e999}', 'a number is too large'],
    ['too deep', `put {"a":${'['.repeat(50)}${']'.repeat(50)}}`, 'nested more than 32 deep'],
    ['deeper than a stack', `put {"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'arguments cannot be read'],
  ])('that cannot be made end as an error that the model sees: %s', async (_, call, text) => {
    const { tools, events, model } = await turnWith(fakeTools(put), [[call, 'put'], 'sorry']);
    expect(tools.effects).toEqual(['put m.1.1']);
    const results = events().flatMap((event) => (event.type === 'tool_result' ? [event] : []));
    expect(results[0]).toMatchObject({ callId: 'm.1.0', outcome: 'error', text: expect.stringContaining(text) });
    expect(model.requests).toHaveLength(2);
    expect(events().at(-1)?.type).toBe('turn_completed');
  });

  test('of a tool that throws end as an error', async () => {
    const run = () => Promise.reject(new Error('no disk'));
    const { events } = await turnWith(fakeTools({ name: 'bad', run }), [['bad'], 'sorry']);
    expect(events()).toContainEqual(expect.objectContaining({ type: 'tool_result', outcome: 'error', text: 'no disk' }));
    expect(events().at(-1)?.type).toBe('turn_completed');
  });

  test.each([
    [true, 'timed out after 5000 ms'],
    [false, 'timed out after 5000 ms; it may have taken effect all the same'],
  ])('end in time, whatever the tool does (idempotent: %s)', async (idempotent, text) => {
    let aborted = false;
    const run = (_: unknown, signal: AbortSignal): Promise<ToolEnd> => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return never();
    };
    const tools = fakeTools({ name: 'deaf', idempotent, run });
    const { clock, events } = await turnWith(tools, [['deaf'], 'sorry'], { settings: { tools: { timeoutMs: 5_000 } } });
    await clock.pass(4_900);
    expect(aborted).toBe(false);
    await clock.pass(200);
    expect(aborted).toBe(true);
    expect(events()).toContainEqual(expect.objectContaining({ type: 'tool_result', outcome: 'error', text }));
    expect(events().at(-1)?.type).toBe('turn_completed');
  });

  test('that have a deadline of their own are not cut off before it', async () => {
    let time: { sleep(ms: number): Promise<void> } | undefined;
    const run = async (): Promise<ToolEnd> => {
      await time?.sleep(9_000);
      return { outcome: 'ok', text: 'at last' };
    };
    const made = rig({
      model: () => script([['slow'], 'done']),
      tools: (clock) => {
        time = clock;
        return fakeTools({ name: 'slow', timeoutMs: 10_000, run });
      },
      settings: { tools: { timeoutMs: 5_000 } },
    });
    await made.take(post('go', 'm'));
    await made.clock.pass(9_100);
    expect(made.events()).toContainEqual(expect.objectContaining({ type: 'tool_result', outcome: 'ok', text: 'at last' }));
  });

  test('that the policy denies end at once, and the model learns by which rule (A5/62)', async () => {
    const settings = { tools: { rules: [{ tool: 'ch*', action: 'deny' }] } };
    const { tools, events } = await turnWith(fakeTools(charge), [['charge'], 'sorry'], { settings });
    expect(tools.effects).toEqual([]);
    const denied = { type: 'tool_result', outcome: 'denied', text: expect.stringContaining('tools.rules[0]') };
    expect(events()).toContainEqual(expect.objectContaining(denied));
    expect(events().at(-1)?.type).toBe('turn_completed');
  });

  test('of more tools than a step may call fail the turn', async () => {
    const { events } = await turnWith(fakeTools(put), [Array.from({ length: 33 }, () => 'put')]);
    expect(events().at(-1)).toMatchObject({ type: 'turn_failed', code: 'model_error' });
  });

  test('and more arguments than one commit holds fail the turn', async () => {
    const huge = `put {"a":"${'x'.repeat(120_000)}"}`;
    const { events, tools } = await turnWith(fakeTools(put), [Array.from({ length: 10 }, () => huge)]);
    expect(tools.effects).toEqual([]);
    expect(events().at(-1)).toMatchObject({ type: 'turn_failed', code: 'output_too_large' });
  });

  test('give an output of any length: it is kept in pages, and a cut is marked', async () => {
    const run = async (): Promise<ToolEnd> => ({ outcome: 'ok', text: 'ä'.repeat(1_000_000) });
    const { events } = await turnWith(fakeTools({ name: 'big', run }), [['big'], 'done']);
    const pages = events().filter(({ type }) => type === 'tool_output');
    expect(pages).toHaveLength(17);
    expect(pages.at(-1)).toMatchObject({ text: expect.stringContaining('2000000 bytes') });
    expect(events().at(-1)?.type).toBe('turn_completed');
  });

  test('A11/125: /stop signals the tool, does not wait for it, and drops a late result', async () => {
    let finish: (end: ToolEnd) => void = () => {};
    let stopped = false;
    const run = (_: unknown, signal: AbortSignal): Promise<ToolEnd> =>
      new Promise((resolve) => {
        finish = resolve;
        signal.addEventListener('abort', () => {
          stopped = true;
        });
      });
    const made = await turnWith(fakeTools({ name: 'slow', idempotent: false, run }), [['slow'], 'never said', 'again']);
    await made.take('stop');
    await made.clock.pass(10);
    expect(stopped).toBe(true);
    expect(made.host.turns.running).toBe(0);
    const before = made.events().length;
    finish({ outcome: 'ok', text: 'late' });
    await made.clock.pass(10);
    expect(made.events()).toHaveLength(before);
    await made.take(post('next', 'n'));
    await made.clock.pass(10);
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_completed', turn: { id: 'n' } });
    expect(heardIn(made.model.requests.at(-1) as never)).toBe('go [slow] m.1.0=unknown next');
  });

  test('A5/62: a run in another session is recorded before it starts', async () => {
    const spawn = { key: 'agent:main:subagent:1', runId: 'run-1' };
    const { events } = await turnWith(fakeTools({ name: 'spawn', spawns: () => spawn }), [['spawn'], 'done']);
    expect(events()).toContainEqual(expect.objectContaining({ type: 'tool_call_started', spawn }));
  });
});
