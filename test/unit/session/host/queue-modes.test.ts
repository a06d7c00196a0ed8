import { describe, expect, test } from 'vitest';
import type { CommandOf } from '../../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { post, type Rig, rig } from '../rig.ts';
import { heardIn, outcomeOf, rowsOf, script } from '../script.ts';

type Mode = NonNullable<CommandOf<'post_message'>['queue']>;
const posting = (made: Rig, id: string, queue: Mode): CommandEnvelope => {
  const message = post(id, id);
  return { ...message, at: made.clock.now(), data: { ...message.data, queue } as CommandOf<'post_message'> };
};
/** A model that takes 100 ms for each line. */
const slowly = (lines: Parameters<typeof script>[0], tools = fakeTools({ name: 'put' })) => {
  const model = script(lines);
  const made = rig({
    tools: () => tools,
    model: (clock) => ({
      ...model,
      step: async (request, onText, signal) => {
        const heard = model.step(request, onText, signal);
        await clock.sleep(100, signal);
        return heard;
      },
    }),
  });
  return { made, model, heard: () => model.requests.map(heardIn) };
};

describe('a message that finds a turn running (B6)', () => {
  test('steer: the next step hears it, after the results of the step that had not', async () => {
    const { made, heard } = slowly([['put'], 'done']);
    await made.take(post('a', 'a'));
    await made.clock.pass(50);
    await made.take(posting(made, 'b', { mode: 'steer' }));
    await made.clock.pass(1_000);
    expect(heard()).toEqual(['a', 'a [put] a.1.0=ok b']);
    expect(made.events().at(-1)?.type).toBe('turn_completed');
  });

  test('steer: an answer that had not heard it is given, and is not the last word', async () => {
    const { made, heard } = slowly(['first', 'second']);
    await made.take(post('a', 'a'));
    await made.clock.pass(50);
    await made.take(posting(made, 'b', { mode: 'steer' }));
    await made.clock.pass(1_000);
    expect(heard()).toEqual(['a', 'a FIRST b']);
    expect(rowsOf(made.events())).toEqual([
      'turn_joined a/1 b',
      'model_step a/1 1 stop',
      'assistant_message a/1',
      'model_step a/1 2 stop',
      'assistant_message a/1',
      'turn_completed a/1',
    ]);
  });

  test('collect: those that wait are answered together', async () => {
    const { made, heard } = slowly(['one', 'two']);
    await made.take(post('a', 'a'));
    await made.clock.pass(50);
    for (const id of ['b', 'c']) await made.take(posting(made, id, { mode: 'collect' }));
    await made.clock.pass(1_000);
    expect(heard()).toEqual(['a', 'a ONE b c']);
    expect(made.events().filter(({ type }) => type === 'turn_completed')).toHaveLength(2);
  });

  test('debounce: no step before the quiet time is over; each message that joins restarts it', async () => {
    const { made, heard } = slowly(['answer to all']);
    for (const id of ['a', 'b', 'c']) {
      await made.take(posting(made, id, { mode: 'followup', debounceMs: 500 }));
      await made.clock.pass(400);
      expect(heard()).toEqual([]);
    }
    await made.clock.pass(99);
    expect(heard()).toEqual([]);
    await made.clock.pass(1);
    expect(heard()).toEqual(['a b c']);
    await made.clock.pass(200);
    expect(rowsOf(made.events()).at(-1)).toBe('turn_completed a/1');
  });

  test('interrupt: the model is stopped, and the new turn starts in the same commit', async () => {
    const { made, heard } = slowly(['never said', 'answer to b']);
    await made.take(post('a', 'a'));
    await made.clock.pass(50);
    const before = made.system.events.stored().length;
    await made.take(posting(made, 'b', { mode: 'interrupt' }));
    expect(made.system.events.stored()).toHaveLength(before + 1);
    await made.clock.pass(1_000);
    expect(heard()).toEqual(['a', 'a b']);
    expect(made.events()).not.toContainEqual(expect.objectContaining({ text: 'never said' }));
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_completed', turn: { id: 'b' } });
  });

  test('an instant model too waits until it is quiet (ADR 3)', async () => {
    let asked = 0;
    const model = { ...script([]), instantly: () => outcomeOf(`instant ${++asked}`) };
    const made = rig({ model: () => model });
    await made.take(posting(made, 'a', { mode: 'followup', debounceMs: 500 }));
    expect(asked).toBe(0);
    await made.take(post('b', 'b'));
    await made.clock.pass(1_000);
    expect(model.requests.map(heardIn)).toEqual(['a b']);
    await made.take(post('c', 'c'));
    expect(asked).toBe(1);
  });
});
