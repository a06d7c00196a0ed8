import { describe, expect, test } from 'vitest';
import type { Attempt } from '../../../../services/session/turn/attempt.ts';
import { isStalled } from '../../../../services/session/turn/watchdog.ts';
import type { Clock } from '../../../../shared/kit/clock.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import type { ToolEnd } from '../../../../shared/ports/tools.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { post, type RigOptions, rig } from '../rig.ts';
import { outcomeOf, rowsOf, script } from '../script.ts';

const settings = { agent: { stallMs: 60_000 } };
const begun = async (options: RigOptions) => {
  const made = rig({ settings, ...options });
  await made.take(post('go', 'm'));
  await made.clock.pass(10);
  return made;
};

describe('the watchdog (B29)', () => {
  test('restarts a stalled turn three times; then the turn fails and the session is usable', async () => {
    const asked: AbortSignal[] = [];
    const deaf: Model = {
      ...script([]),
      step: (_, __, signal) => {
        asked.push(signal);
        return asked.length > 3 ? Promise.resolve(outcomeOf('here again')) : new Promise(() => {});
      },
    };
    const made = await begun({ model: () => deaf });
    for (const attempt of [1, 2, 3]) {
      expect(asked.map(({ aborted }) => aborted)).toEqual(Array.from({ length: attempt }, (_, index) => index < attempt - 1));
      await made.clock.pass(60_000);
    }
    expect(rowsOf(made.events())).toEqual(['turn_resumed m/2 step 1', 'turn_resumed m/3 step 1', 'turn_failed m/3 turn_stalled']);
    expect(made.host.turns.running).toBe(0);
    expect(made.host.turnCounters.metrics()).toMatchObject({ turns_failed_since_success: 1 });
    await made.take(post('next', 'n'));
    await made.clock.pass(10);
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_completed', turn: { id: 'n' } });
    expect(made.host.turnCounters.metrics()).toMatchObject({
      ...{ turns_started_total: 2, turns_stalled_total: 3, turns_failed_since_success: 0 },
    });
  });

  test('leaves a turn alone whose text comes slowly', async () => {
    let time: { sleep(ms: number): Promise<void> } | undefined;
    const slow: Model = {
      ...script([]),
      step: async (_, onText) => {
        for (let piece = 0; piece < 5; piece++) {
          await time?.sleep(50_000);
          onText('piece ');
        }
        return outcomeOf('done');
      },
    };
    const made = await begun({
      model: (clock) => {
        time = clock;
        return slow;
      },
    });
    await made.clock.pass(251_000);
    expect(rowsOf(made.events())).toEqual(['model_step m/1 1 stop', 'assistant_message m/1', 'turn_completed m/1']);
  });

  test('leaves a tool alone that has a deadline of its own, however long; then it counts again', async () => {
    const ends: ((end: ToolEnd) => void)[] = [];
    const run = (): Promise<ToolEnd> => new Promise((resolve) => ends.push(resolve));
    const tools = fakeTools({ name: 'charge', idempotent: false, run });
    const lines = script([['charge']]);
    const model: Model = {
      ...lines,
      step: (request, ...rest) => (request.step === 1 ? lines.step(request, ...rest) : new Promise(() => {})),
    };
    const slow = { ...settings, tools: { timeoutMs: 3_600_000 } };
    const made = await begun({ settings: slow, model: () => model, tools: () => tools });
    await made.clock.pass(3_500_000);
    const rows = ['model_step m/1 1 continue', 'tool_call_started m/1 m.1.0 #1'];
    expect(rowsOf(made.events())).toEqual(rows);
    ends[0]?.({ outcome: 'ok', text: 'charged' });
    await made.clock.pass(59_000);
    expect(rowsOf(made.events())).toEqual([...rows, 'tool_result m/1 m.1.0 ok']);
    await made.clock.pass(1_001);
    expect(rowsOf(made.events()).at(-1)).toBe('turn_resumed m/2 step 2');
    expect(ends).toHaveLength(1);
  });

  test('does not spin, whatever the time is', async () => {
    let sleeps = 0;
    const clock: Clock = {
      now: () => 0,
      monotonic: () => Number.NaN,
      sleep: async () => {
        sleeps += 1;
      },
    };
    const attempt = { services: { clock, config: { agent: { stallMs: 1_000 } } }, progressAt: 0 } as unknown as Attempt;
    expect(await isStalled(attempt, new AbortController().signal)).toBe(true);
    expect(sleeps).toBe(0);
  });

  test('counts no time in which the turn waits on purpose: for others to join it, or for a person', async () => {
    const made = rig({ settings: { agent: { stallMs: 1_000 } }, model: () => script(['done']) });
    const message = post('go', 'm');
    await made.take({
      ...message,
      at: made.clock.now(),
      data: { ...message.data, queue: { mode: 'collect', debounceMs: 5_000 } } as never,
    });
    await made.clock.pass(5_100);
    expect(rowsOf(made.events())).toEqual(['model_step m/1 1 stop', 'assistant_message m/1', 'turn_completed m/1']);
  });
});
