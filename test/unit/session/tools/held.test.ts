import { describe, expect, test } from 'vitest';
import { HeldResults, heldResults } from '../../../../services/session/turn/held-results.ts';
import type { ModelRequest } from '../../../../shared/domain/prompt/model-request.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { command } from '../../../support/domain/given.ts';
import { type FakeTool, fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, post, type RigOptions, rig } from '../rig.ts';
import { heardIn, type Line, outcomeOf, rowsOf } from '../script.ts';

const look: FakeTool = { name: 'look', readsOnly: true };
const put: FakeTool = { name: 'put' };
const charge: FakeTool = { name: 'charge', idempotent: false };
const mail: FakeTool = { name: 'mail', usual: 'ask' };

interface Told extends RigOptions {
  /** How long the model thinks before each step, ms. */
  readonly thinksMs?: (request: ModelRequest) => number;
}

/** One message to a host with a model that answers with these lines; with each step, what the log had when it was asked for. */
const turnWith = async (lines: readonly Line[], tools: readonly FakeTool[] = [look, put, charge, mail], told: Told = {}) => {
  const { thinksMs = () => 0, ...options } = told;
  const steps: { readonly heard: string; readonly logged: string[] }[] = [];
  const next = lines.values();
  const model: Model = {
    name: 'script',
    windowTokens: 100_000,
    step: async (request) => {
      steps.push({ heard: heardIn(request), logged: results(rowsOf(made.events())) });
      const line = outcomeOf(next.next().value ?? 'nothing more to say');
      await made.clock.sleep(thinksMs(request));
      return line;
    },
  };
  const fakes = fakeTools(...tools);
  const made = rig({ model: () => model, tools: () => fakes, ...options });
  await made.take(post('go', 'm'));
  await made.clock.pass(10);
  return {
    ...{ made, steps, tools: fakes },
    rows: () => rowsOf(made.events()),
    /** The types of each commit's events. */
    commits: () => made.system.events.stored().map(({ events }) => events.map(({ type }) => type)),
  };
};
const bound = (value: unknown, to: object): unknown => (typeof value === 'function' ? value.bind(to) : value);
const results = (rows: readonly string[]): string[] => rows.filter((row) => row.startsWith('tool_result'));

describe('results of calls that only read (I6)', () => {
  test('are recorded with the step that uses them: five in sequence make seven commits', async () => {
    const { commits, steps, rows } = await turnWith([['look'], ['look'], ['look'], ['look'], ['look'], 'done']);
    expect(commits()).toHaveLength(7);
    expect(commits().slice(2, -1)).toEqual(Array.from({ length: 4 }, () => ['tool_result', 'model_step', 'tool_call_started']));
    expect(commits().at(-1)).toEqual(['tool_result', 'model_step', 'assistant_message', 'turn_completed']);
    expect(steps[2]?.heard).toBe('go [look] m.1.0=ok [look] m.2.0=ok');
    expect(results(rows())).toHaveLength(5);
  });

  test('make three commits, however many one step asks for', async () => {
    const { commits, steps } = await turnWith([['look', 'look', 'look', 'look', 'look'], 'done']);
    expect(commits()).toHaveLength(3);
    expect(steps[1]?.heard).toBe('go [look look look look look] m.1.0=ok m.1.1=ok m.1.2=ok m.1.3=ok m.1.4=ok');
  });

  test('the model hears the same of them as of results that are recorded at once', async () => {
    const lines: Line[] = [['look', 'put'], ['look'], 'done'];
    const heard = async (...tools: FakeTool[]) => (await turnWith(lines, tools)).steps.map((step) => step.heard);
    expect(await heard(look, put)).toEqual(await heard({ name: 'look' }, put));
  });

  test.each<[string, FakeTool]>([
    ['that may be repeated, but changes something', put],
    ['that may not be repeated', charge],
  ])('wait for no step if they are those of a tool %s: each is in the log before the model is asked', async (_, tool) => {
    const { steps } = await turnWith([[tool.name, 'look', tool.name], 'done']);
    expect(steps[1]?.logged).toEqual(['tool_result m/1 m.1.0 ok', 'tool_result m/1 m.1.2 ok']);
    expect(steps[1]?.heard).toContain('m.1.0=ok m.1.1=ok m.1.2=ok');
  });

  test('are not held if the call changed memory', async () => {
    const run = async () => ({
      ...({ outcome: 'ok', text: '' } as const),
      memory: { changes: [{ op: 'forget', id: '1-0' }] } as never,
    });
    const { steps } = await turnWith([['look'], 'done'], [{ ...look, run }]);
    expect(steps[1]?.logged).toHaveLength(1);
  });

  test('a host that dies meanwhile: the call is made again, and nothing else', async () => {
    const lines = [['charge', 'look'], 'said to nobody', 'all done'];
    const { made, tools, rows } = await turnWith(lines, [look, charge], { thinksMs: ({ step }) => (step === 2 ? 900 : 0) });
    expect(tools.effects).toEqual(['charge m.1.0', 'look m.1.1']);
    made.host.close();
    made.restart();
    await made.host.recover(homeKey);
    await made.clock.pass(1_000);
    expect(tools.effects).toEqual(['charge m.1.0', 'look m.1.1', 'look m.1.1']);
    expect(rows().slice(1)).toEqual([
      'tool_call_started m/1 m.1.0 #1',
      'tool_call_started m/1 m.1.1 #1',
      'tool_result m/1 m.1.0 ok',
      'turn_resumed m/2 step 2',
      'tool_call_started m/2 m.1.1 #2',
      'tool_result m/2 m.1.1 ok',
      'model_step m/2 2 stop',
      'assistant_message m/2',
      'turn_completed m/2',
    ]);
  });

  test('are recorded after a second in which the model still thinks, and its step goes without them (I11)', async () => {
    const { made, rows, commits } = await turnWith([['look'], 'done'], [look], { thinksMs: ({ step }) => (step - 1) * 5_000 });
    expect(results(rows())).toEqual([]);
    await made.clock.pass(heldResults.ms);
    expect(results(rows())).toEqual(['tool_result m/1 m.1.0 ok']);
    await made.clock.pass(5_000);
    expect(commits().slice(2)).toEqual([['tool_result'], ['model_step', 'assistant_message', 'turn_completed']]);
  });

  test('more than the bound is recorded at once (I11)', async () => {
    const run = async () => ({ outcome: 'ok', text: 'x'.repeat(heldResults.bytes / 2 + 1) }) as const;
    const { steps } = await turnWith([['look', 'look'], 'done'], [{ ...look, run }]);
    expect(steps[1]?.logged).toHaveLength(1);
    expect(steps[1]?.heard).toContain('m.1.0=ok m.1.1=ok');
  });

  test('are in the log before a person is asked', async () => {
    const { rows } = await turnWith([['look', 'mail'], 'done']);
    expect(rows()).toEqual([
      'model_step m/1 1 continue',
      'tool_call_started m/1 m.1.0 #1',
      'tool_result m/1 m.1.0 ok',
      expect.stringMatching(/^approval_requested/),
    ]);
  });

  test('are recorded with a step that failed', async () => {
    const failed = { kind: 'failed', code: 'model_error', message: 'not today' } as const;
    const { commits } = await turnWith([['look'], failed]);
    expect(commits().at(-1)).toEqual(['tool_result', 'turn_failed']);
  });

  test('a step that is too large with them goes without them', async () => {
    let [asked, refused] = [0, 0];
    const { rows } = await turnWith([['look'], 'done'], [look], {
      portsOf: (ports) => ({
        ...ports,
        events: new Proxy(ports.events, {
          get: (log, name) => {
            if (name !== 'append') return bound(Reflect.get(log, name), log);
            return async (...given: Parameters<typeof log.append>) => {
              asked++;
              const types = given[0].events.map(({ type }) => type);
              if (!types.includes('tool_result') || !types.includes('model_step')) return log.append(...given);
              refused++;
              return { kind: 'refused', message: 'too large' };
            };
          },
        }),
      }),
    });
    expect([asked, refused]).toEqual([5, 1]);
    expect(rows().slice(-4)).toEqual([
      'tool_result m/1 m.1.0 ok',
      'model_step m/1 2 stop',
      'assistant_message m/1',
      'turn_completed m/1',
    ]);
  });

  test('are dropped with a turn that is stopped: the next one hears that the call was cut off', async () => {
    const { made, steps, rows } = await turnWith([['look'], 'never said', 'done'], [look], {
      thinksMs: ({ step }) => (step - 1) * 500,
    });
    await made.take({ ...command('stop', 'stop-1'), key: homeKey });
    await made.take(post('and now?', 'n'));
    await made.clock.pass(5_000);
    expect(results(rows())).toEqual([]);
    expect(steps.at(-1)?.heard).toBe('go [look] m.1.0=unknown and now?');
    expect(rows().at(-1)).toBe('turn_completed n/1');
  });

  test('a call whose result was recorded meanwhile is not open again for a turn that was looked at before (I6)', async () => {
    const recorded: string[] = [];
    const held = new HeldResults({
      clock: { sleep: () => new Promise(() => {}) },
      signal: new AbortController().signal,
      record: async ({ callId }) => recorded.push(callId),
    });
    expect(held.add({ callId: 'm.1.0', outcome: 'ok', text: '' })).toBe(true);
    await held.record();
    expect([recorded, held.all, held.has('m.1.0'), held.has('m.1.1')]).toEqual([['m.1.0'], [], true, false]);
  });
});
