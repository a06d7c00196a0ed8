import { describe, expect, test } from 'vitest';
import { isRepeat } from '../../../../shared/domain/session/decide/repeat.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { command, given, stateAfter } from '../../../support/domain/given.ts';

const said = ['post m1', 'reply m1/1 1'];
const completed = (turn: string) => [`model_step ${turn} 1 stop`, `assistant_message ${turn}`, `turn_completed ${turn}`];

describe('a requested compaction is a turn of its own (A11/126)', () => {
  test('at once, where nothing runs', () => {
    given(...said)
      .when('compact c1')
      .then('turn_started c1/1');
    given(...said, 'deactivate')
      .when('compact c1')
      .then('session_reopened', 'turn_started c1/1');
  });

  test('behind what runs and waits', () => {
    given('post m1', 'post m2').when('compact c1').then('turn_queued c1 #2');
    given('post m1', 'compact c1')
      .when('reply m1/1 1')
      .then(...completed('m1/1'), 'turn_started c1/1');
  });

  test('its summary ends it, is announced, and lets the next turn start', () => {
    given(...said, 'compact c1', 'post m2')
      .when('compacted c1/1 1 3')
      .then('context_compacted c1/1 through 1', 'notice compacted', 'turn_completed c1/1', 'turn_started m2/1');
  });

  test('nothing to compact is announced too', () => {
    given(...said, 'compact c1')
      .when('nothing-to-compact c1/1')
      .then('notice compacted', 'turn_completed c1/1');
    given('open').when('compact c1').then('notice compacted');
  });

  test('a summary that could not be made fails the turn', () => {
    given(...said, 'compact c1', 'post m2')
      .when('fail c1/1 1')
      .then('turn_failed c1/1 model_failed', 'turn_started m2/1');
  });

  test('whatever its model returns, no answer is sent', () => {
    given(...said, 'compact c1')
      .when('reply c1/1 1')
      .then('model_step c1/1 1 continue');
  });

  test('a summary of an attempt that is over changes nothing', () => {
    given(...said, 'compact c1', 'resume')
      .when('compacted c1/1 1 3')
      .thenNothing();
    given(...said, 'compact c1', 'stop')
      .when('compacted c1/1 1 3')
      .thenNothing();
  });

  test(`behind ${limits.queuedTurns} that wait it is refused (I11)`, () => {
    const full = Array.from({ length: limits.queuedTurns + 1 }, (_, index) => `post m${index}`);
    given(...full)
      .when('compact c1')
      .then('notice compacted');
    const { data, ...rest } = command('compact c1');
    given(...full)
      .when({ ...rest, data: { ...data, notice: undefined } as never })
      .thenRefused('session_busy');
  });

  test('it is not asked for twice, however long ago it came (I2)', () => {
    const state = stateAfter('post m1', 'compact c1');
    const forgotten = { ...state, position: { ...state.position, recentIds: [] } };
    expect(isRepeat(command('compact c1'), null, forgotten)).toBe(true);
    expect(isRepeat(command('compact c2'), null, forgotten)).toBe(false);
  });

  test('a reset takes it from the queue; one that another message brings leaves it there', () => {
    given('post m1', 'compact c1')
      .when('reset s2')
      .then('queue_cleared c1', 'turn_aborted m1/1 /new', 'checkpoint_requested new_session s1 1-2', 'session_reset s1 to s2 g2');
    const { machine } = stateAfter('post m1', 'post-stale m2 followup', 'compact c1', 'reply m1/1 1');
    expect(machine.context).toMatchObject({ generation: 2, turn: { id: 'm2' }, queue: [{ id: 'c1' }] });
  });
});

describe('a compaction within a turn (A11/126)', () => {
  test('the turn continues with its next step', () => {
    given('post m1', 'continue m1/1 1').when('compacted m1/1 1 3').then('context_compacted m1/1 through 1');
    expect(stateAfter('post m1', 'continue m1/1 1', 'resume', 'compacted m1/2 1 3').machine.context).toMatchObject({
      turn: { id: 'm1', step: 2, resumes: 0 },
      compactions: 1,
      usage: { contextTokens: 10, totalTokens: 10 },
    });
  });

  test('nothing to compact is not recorded', () => {
    given('post m1').when('nothing-to-compact m1/1').thenNothing();
  });

  test('A7/85: a step for the memory is counted and sends no answer', () => {
    given('post m1').when('flush m1/1 1').then('model_step m1/1 1 continue');
    expect(given('post m1').when('flush m1/1 1').events[0]).toMatchObject({ flush: true });
    given('post m1', 'flush m1/1 1').when('flush m1/1 1').thenNothing();
  });
});

describe('where reading the context starts', () => {
  const contextSeqAfter = (...history: string[]) => stateAfter(...history).position.contextSeq;

  test('with the generation, and after a summary with what it left', () => {
    expect(contextSeqAfter(...said)).toBe(2);
    expect(contextSeqAfter(...said, 'compact c1', 'compacted c1/1 1 4')).toBe(4);
    expect(contextSeqAfter(...said, 'compact c1', 'compacted c1/1 1 4', 'reset s2')).toBe(10);
    expect(contextSeqAfter(...said, 'reset s2')).toBe(6);
  });

  test('a message that waited is older than its generation, and is read', () => {
    expect(contextSeqAfter('post m1', 'post-stale m2 followup', 'reply m1/1 1')).toBe(2);
  });
});
