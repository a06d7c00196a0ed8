import { describe, expect, test } from 'vitest';
import { decide } from '../../../../../shared/domain/session/decide/index.ts';
import { isRepeat } from '../../../../../shared/domain/session/decide/repeat.ts';
import type { CommandEnvelope } from '../../../../../shared/domain/session/envelope.ts';
import { fold, toPlain } from '../../../../../shared/domain/session/fold/evolve.ts';
import { limits } from '../../../../../shared/kit/limits.ts';
import { command, commitOf, given, stateAfter } from '../../../../support/domain/given.ts';
import { routed } from '../../routing/support.ts';

const posts = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `post m${from + i}`);

/** A message with more in it than a row can say. */
const posted = (change: Record<string, unknown>): CommandEnvelope => {
  const { data, ...rest } = command('post m1');
  return { ...rest, data: { ...data, ...change } as CommandEnvelope['data'] };
};

describe('messages that arrive while a turn runs (A5/70)', () => {
  test('they run one at a time in the order they came', () => {
    const history = ['post m1', 'post m2', 'post m3', 'reply m1/1 1'];
    given(...history)
      .when('reply m2/1 1')
      .then('model_step m2/1 1 stop', 'assistant_message m2/1', 'turn_completed m2/1', 'turn_started m3/1');
    expect(stateAfter(...history).machine.context.queue.map(({ id }) => id)).toEqual(['m3']);
  });

  test('a failed turn does not hold up the next one', () => {
    given('post m1', 'post m2').when('fail m1/1 1').then('turn_failed m1/1 model_failed', 'turn_started m2/1');
  });

  test(`${limits.queuedTurns} may wait; the next is refused, and the refusal is a fact (I1, I11)`, () => {
    const full = posts(1, limits.queuedTurns + 1);
    expect(stateAfter(...full).machine.context.queue).toHaveLength(limits.queuedTurns);
    given(...full.slice(0, -1))
      .when('post last')
      .then('user_message last for a turn', `turn_queued last #${limits.queuedTurns}`);
    given(...full)
      .when('post last')
      .then('message_refused last queue_full');
  });

  test('a refused message leaves the conversation as it was', () => {
    const full = posts(1, limits.queuedTurns + 1);
    const { machine: before } = stateAfter(...full);
    const { machine, position } = stateAfter(...full, 'post last');
    expect(machine.context).toEqual(before.context);
    expect(position.recentIds.at(-1)).toBe('last');
  });

  test('a full queue still takes messages that ask for no turn (A5/69)', () => {
    given(...posts(1, limits.queuedTurns + 1))
      .when('append note')
      .then('user_message note');
  });
});

describe('what a message carries (A5/64-68)', () => {
  const deliverTo = { channel: 'irc', to: '#ubuntu' };

  test('the answer goes where the message asked, however the turn ends', () => {
    const { message } = command('post m1').data as { message: object };
    const asked = posted({ message: { ...message, deliverTo } });
    const [, , started] = given().when(asked).events;
    expect(started).toMatchObject({ type: 'turn_started', turn: { id: 'm1', deliverTo } });
    expect(given(asked).when('reply m1/1 1').events[1]).toMatchObject({ type: 'assistant_message', deliverTo });
    expect(given(asked).when('fail m1/1 1').events[0]).toMatchObject({ type: 'turn_failed', deliverTo });
  });

  test('a queued message keeps its own way back', () => {
    const second = { ...posted({ message: { messageId: 'm2', text: '', sender: { id: 'u' }, deliverTo } }), id: 'm2' };
    const { events } = given('post m1', second).when('reply m1/1 1');
    expect(events.at(-1)).toMatchObject({ type: 'turn_started', turn: { id: 'm2', deliverTo } });
  });

  test('the source is set once and kept on reopening (A5/65)', () => {
    const irc = { kind: 'channel', interactive: true, platform: 'irc' };
    expect(given().when(posted({ source: irc })).events[0]).toMatchObject({ type: 'session_opened', source: irc });
    expect(given().when('open').events[0]).toMatchObject({ source: { kind: 'api', interactive: false } });
    given('open', 'deactivate')
      .when(posted({ source: irc }))
      .then('session_reopened', 'user_message m1 for a turn', 'turn_started m1/1');
  });

  test('a session that exists keeps its session id whatever a command proposes', () => {
    given('open s1').when('open other').thenNothing();
    expect(stateAfter('open s1', posted({ sessionId: 'other' })).machine.context.sessionId).toBe('s1');
  });
});

describe('a command takes effect once (I2)', () => {
  const state = stateAfter('post m1', 'post m2');

  test('the watermark of the command stream covers everything up to it, in the same life of the stream only', () => {
    const position = { ...state.position, command: { seq: 7, incarnation: 1 } };
    const repeat = (seq: number, incarnation: number) =>
      isRepeat(command('stop', 'new'), { seq, incarnation }, { ...state, position });
    expect([repeat(6, 1), repeat(7, 1), repeat(8, 1), repeat(7, 2)]).toEqual([true, true, false, false]);
  });

  test('a known command id or message id is a repeat, whatever its place in the stream', () => {
    expect(isRepeat(command('stop', 'm1'), null, state)).toBe(true);
    expect(isRepeat({ ...command('post m1'), id: 'new', causationId: 'request' }, null, state)).toBe(true);
    expect(isRepeat(command('append m1', 'new'), null, state)).toBe(true);
    expect(isRepeat(command('stop', 'new'), null, state)).toBe(false);
    expect(isRepeat(command('post m3', 'new'), null, state)).toBe(false);
  });

  test("A3/30: a message is another channel's when only the platforms' own ids are alike", () => {
    const session = { dmScope: 'main' };
    const [first, second] = ['telegram', 'whatsapp'].map((channel) =>
      routed({ id: '17', channel, conversation: { id: '5', kind: 'direct' } }, { session }),
    ) as [CommandEnvelope, CommandEnvelope];
    expect(first.key).toBe(second.key);
    const after = stateAfter(first);
    expect([first, second].map((routedCommand) => isRepeat(routedCommand, null, after))).toEqual([true, false]);
  });

  test.each(['/new', '/new fast go', '/stop', '/status', '/context list', '/send off', 'hello'])(
    'A11: %s, routed and delivered a second time, is a repeat, in a new session and in one that runs',
    (text) => {
      const direct = { conversation: { id: '5', kind: 'direct' } };
      const said = routed({ ...direct, id: '18', text });
      for (const before of [stateAfter(), stateAfter(routed({ ...direct, id: '17' }))]) {
        const decision = decide(said, before);
        const after = fold(before, commitOf(before, said, 'accept' in decision ? decision.accept : [], 7));
        expect([before, after].map((known) => isRepeat(said, { seq: 9, incarnation: 2 }, known))).toEqual([false, true]);
      }
    },
  );

  test('a turn that runs or waits is not asked for a second time, even by another message', () => {
    const forgotten = { ...state, position: { ...state.position, recentIds: [] } };
    for (const id of ['m1', 'm2']) {
      expect(isRepeat({ ...command('post m3'), id }, null, forgotten)).toBe(true);
      expect(isRepeat(command('append m3', id), null, forgotten)).toBe(false);
    }
  });

  test(`the last ${limits.recentIds} ids are remembered, not more (I11)`, () => {
    const notes = Array.from({ length: limits.recentIds + 10 }, (_, i) => `append n${i}`);
    const { recentIds } = toPlain(stateAfter(...notes)).position;
    expect(recentIds).toHaveLength(limits.recentIds);
    expect(recentIds.at(-1)).toBe(`n${limits.recentIds + 9}`);
  });
});
