import { describe, expect, test } from 'vitest';
import { limits } from '../../../../shared/kit/limits.ts';
import { given, stateAfter } from '../../../support/domain/given.ts';

const resumes = Array<string>(limits.turnResumes).fill('resume');
const steps = (count: number): string[] => Array.from({ length: count }, (_, i) => `continue m1/1 ${i + 1}`);

describe('late results are fenced by turn, attempt and step (I5)', () => {
  test.each([
    ['an older attempt', ['post m1', 'resume'], 'reply m1/1 1'],
    ['an attempt that does not exist yet', ['post m1'], 'reply m1/2 1'],
    ['another turn', ['post m1'], 'reply m0/1 1'],
    ['a turn that waits in the queue', ['post m1', 'post m2'], 'reply m2/1 1'],
    ['a step that is recorded already', ['post m1', 'continue m1/1 1'], 'continue m1/1 1'],
    ['a step that is not due', ['post m1'], 'reply m1/1 2'],
    ['an older attempt that fails', ['post m1', 'resume'], 'fail m1/1 1'],
    ['an older attempt that asks for approval', ['post m1', 'resume'], 'ask m1/1 p1'],
    ['the attempt before an approval', ['post m1', 'ask m1/1 p1', 'answer p1 granted'], 'reply m1/1 1'],
    ['a turn that was stopped', ['post m1', 'stop'], 'reply m1/1 1'],
    ['a turn of the generation before a reset', ['post m1', 'reset', 'post m2'], 'reply m1/1 1'],
    ['a turn that has completed', ['post m1', 'reply m1/1 1'], 'reply m1/1 1'],
  ])('%s changes nothing', (_, history, late) =>
    given(...history)
      .when(late)
      .thenNothing(),
  );
});

describe('recovery is a command (B16)', () => {
  test('a resumed turn continues at the step after the last recorded one', () => {
    given('post m1', 'continue m1/1 1', 'continue m1/1 2').when('resume').then('turn_resumed m1/2 step 3');
    given('post m1', 'continue m1/1 1', 'resume')
      .when('reply m1/2 2')
      .then('model_step m1/2 2 stop', 'assistant_message m1/2', 'turn_completed m1/2');
  });

  test(`after ${limits.turnResumes} resumes without a new step the turn fails and the next one runs`, () => {
    const last = limits.turnResumes + 1;
    given('post m1', ...resumes.slice(1))
      .when('resume')
      .then(`turn_resumed m1/${last} step 1`);
    given('post m1', ...resumes)
      .when('resume')
      .then(`turn_failed m1/${last} attempts_exhausted`);
    given('post m1', 'post m2', ...resumes)
      .when('resume')
      .then(`turn_failed m1/${last} attempts_exhausted`, 'turn_started m2/1');
  });

  test('a recorded step gives the full number of resumes back', () => {
    const progress = ['post m1', ...resumes, `continue m1/${limits.turnResumes + 1} 1`];
    expect(stateAfter(...progress).machine.context.turn).toMatchObject({ step: 2, resumes: 0 });
    given(...progress)
      .when('resume')
      .then(`turn_resumed m1/${limits.turnResumes + 2} step 2`);
  });
});

describe('a turn has a bounded number of model steps (I11)', () => {
  test(`step ${limits.turnSteps} may answer, but not ask to continue`, () => {
    const before = ['post m1', ...steps(limits.turnSteps - 1)];
    const last = limits.turnSteps;
    given(...before)
      .when(`reply m1/1 ${last}`)
      .then(`model_step m1/1 ${last} stop`, 'assistant_message m1/1', 'turn_completed m1/1');
    given(...before)
      .when(`continue m1/1 ${last}`)
      .then(`model_step m1/1 ${last} continue`, 'turn_failed m1/1 steps_exhausted');
  });
});

describe('approvals (A5/62, I7)', () => {
  const asked = ['post m1', 'ask m1/1 p1 500'];

  test('the answer resumes the turn as a new attempt', () => {
    given(...asked)
      .when('answer p1 granted @400')
      .then('approval_resolved m1/2 p1 granted');
    given(...asked)
      .when('answer p1 denied @400')
      .then('approval_resolved m1/2 p1 denied');
    expect(stateAfter(...asked, 'answer p1 denied').machine.context).toMatchObject({
      approval: null,
      questions: [],
      turn: { id: 'm1', attempt: 2, step: 1 },
    });
  });

  test('the deadline itself is in time, and a grant one millisecond later grants nothing', () => {
    given(...asked)
      .when('answer p1 granted @500')
      .then('approval_resolved m1/2 p1 granted');
    given(...asked)
      .when('answer p1 granted @501')
      .thenRefused('approval_expired');
    given(...asked)
      .when('answer p1 denied @501')
      .thenRefused('approval_expired');
    given(...asked)
      .when('expire p1 @500')
      .thenNothing();
    given(...asked)
      .when('expire p1 @501')
      .then('approval_resolved m1/2 p1 expired');
  });

  test('the first answer wins', () => {
    given(...asked, 'answer p1 denied')
      .when('answer p1 granted')
      .thenRefused('approval_resolved');
  });

  test('an answer to another request is refused', () => {
    given(...asked)
      .when('answer p2 granted')
      .thenRefused('approval_unknown');
    given(...asked, 'answer p1 granted', 'ask m1/2 p2')
      .when('answer p1 granted')
      .thenRefused('approval_resolved');
  });

  test('it waits through a restart of the host and takes no result meanwhile', () => {
    given(...asked)
      .when('resume')
      .thenNothing();
    given(...asked)
      .when('reply m1/1 1')
      .thenNothing();
  });

  test.each(['stop', 'reset s2'])('%s withdraws the request', (ending) => {
    expect(stateAfter(...asked, ending).machine.context).toMatchObject({ approval: null, turn: null });
    given(...asked, ending)
      .when('answer p1 granted')
      .thenRefused('approval_unknown');
  });
});

describe('stop, reset and rest (A4/53, A5/63, A11/125)', () => {
  const epochs = (...history: string[]) => stateAfter(...history).machine.context.epoch;

  test('each stop of a turn and each reset starts a new epoch; a stop of nothing does not (I5)', () => {
    expect([epochs('open'), epochs('open', 'stop'), epochs('post m1', 'stop')]).toEqual([0, 0, 1]);
    expect([epochs('open', 'reset'), epochs('post m1', 'reset'), epochs('post m1', 'stop', 'reset')]).toEqual([1, 2, 2]);
  });

  test('a stopped session takes the next message at once', () => {
    given('post m1', 'post m2', 'stop').when('post m3').then('user_message m3 for a turn', 'turn_started m3/1');
  });

  test('a reset starts a generation with nothing of the old one but the epoch', () => {
    const { context } = stateAfter('post m1', 'reply m1/1 1', 'post m2', 'post m3', 'reset s2').machine;
    expect(context).toEqual({
      sessionId: 's2',
      generation: 2,
      epoch: 2,
      messages: 0,
      completedTurns: 0,
      compactions: 0,
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, contextTokens: 0, costUsd: 0 },
      settings: {},
      origin: {},
      route: null,
      deleted: false,
      deletedGeneration: 0,
      queue: [],
      turn: null,
      approval: null,
      questions: [],
      resolved: [],
      grants: [],
      prompt: [],
      skills: [],
      review: { messages: 0, turns: 0, workingMemory: '', description: '', notedRev: 0 },
      spawned: [],
    });
  });

  test('a reset of a resting session makes it active', () => {
    expect(stateAfter('open', 'deactivate', 'reset s2').machine.value).toBe('idle');
  });

  test('a resting session wakes with its generation and counts', () => {
    const { context } = stateAfter('post m1', 'reply m1/1 1', 'deactivate', 'append m2').machine;
    expect(context).toMatchObject({ sessionId: 's1', generation: 1, messages: 3, completedTurns: 1 });
  });
});
