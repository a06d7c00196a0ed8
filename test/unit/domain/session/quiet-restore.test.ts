import { describe, expect, test } from 'vitest';
import { createActor, fromCallback } from 'xstate';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { evolve, fromPlain, type SessionState, toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { type StartTurn, sessionMachine, type TurnInput } from '../../../../shared/domain/session/fold/machine.ts';
import { livingOf } from '../../../../shared/domain/session/fold/steps.ts';
import { given, stateAfter } from '../../../support/domain/given.ts';

/** A live actor restored from a state, with a turn that only notes when it is started and stopped. */
const restore = (state: SessionState) => {
  const notes: string[] = [];
  const turn = fromCallback<StartTurn, TurnInput>(({ input }) => {
    const name = `${input.turn.id}/${input.turn.attempt} step ${input.turn.step}`;
    notes.push(`start ${name}`);
    return () => void notes.push(`stop ${name}`);
  });
  const machine = livingOf(sessionMachine.provide({ actors: { turn } }));
  const actor = createActor(machine, { snapshot: fromPlain(toPlain(state)).machine }).start();
  return { actor, notes, send: (events: readonly SessionEvent[]) => void events.map(actor.send) };
};

/** What the events that a command leads to start and stop in an actor restored from a history. */
const effects = (history: readonly string[], asked: string): string[] => {
  const { notes, send } = restore(stateAfter(...history));
  send(given(...history).when(asked).events);
  return notes;
};

describe('an effect starts only because of a freshly recorded event (I6)', () => {
  test.each([
    ['running', ['post m1']],
    ['running with a queue', ['post m1', 'post m2', 'continue m1/1 1']],
    ['awaiting approval', ['post m1', 'ask m1/1 p1']],
    ['idle', ['open']],
  ])('going live %s starts nothing', (_, history) => {
    const { actor, notes } = restore(stateAfter(...history));
    expect([actor.getSnapshot().status, notes]).toEqual(['active', []]);
  });

  test('events that do not enter running start nothing', () => {
    for (const asked of ['post m2', 'append m2', 'continue m1/1 1']) expect(effects(['post m1'], asked)).toEqual([]);
  });

  test('a message to an idle session starts its turn once', () => {
    expect(effects(['open'], 'post m1')).toEqual(['start m1/1 step 1']);
  });

  test('a resume starts the turn exactly once, as the new attempt and at the next step', () => {
    expect(effects(['post m1'], 'resume')).toEqual(['start m1/2 step 1']);
    expect(effects(['post m1', 'continue m1/1 1'], 'resume')).toEqual(['start m1/2 step 2']);
  });

  test('a second resume stops the first attempt before it starts the next', () => {
    const { notes, send } = restore(stateAfter('post m1'));
    send(given('post m1').when('resume').events);
    send(given('post m1', 'resume').when('resume').events);
    expect(notes).toEqual(['start m1/2 step 1', 'stop m1/2 step 1', 'start m1/3 step 1']);
  });

  test('an answered approval starts the turn once', () => {
    expect(effects(['post m1', 'ask m1/1 p1'], 'answer p1 granted')).toEqual(['start m1/2 step 1']);
  });

  test.each(['stop', 'reset s2', 'reply m1/2 1', 'fail m1/2 1', 'ask m1/2 p1'])('%s ends the running effect', (asked) => {
    const { notes, send } = restore(stateAfter('post m1'));
    send(given('post m1').when('resume').events);
    send(given('post m1', 'resume').when(asked).events);
    expect(notes).toEqual(['start m1/2 step 1', 'stop m1/2 step 1']);
  });

  test('stopping the actor ends the running effect', () => {
    const { actor, notes, send } = restore(stateAfter('open'));
    send(given('open').when('post m1').events);
    actor.stop();
    expect(notes).toEqual(['start m1/1 step 1', 'stop m1/1 step 1']);
  });

  test('the check before the commit leaves the live turn alone', () => {
    const { actor, notes, send } = restore(stateAfter('open'));
    send(given('open').when('post m1').events);
    given('open', 'post m1').when('stop').events.reduce(evolve, actor.getSnapshot());
    given('open', 'post m1').when('resume').events.reduce(evolve, actor.getSnapshot());
    expect(notes).toEqual(['start m1/1 step 1']);
  });

  test('the recipe matters: the snapshot of a live actor would start the turn, and the fold has nothing that could', () => {
    const { actor, send } = restore(stateAfter('open'));
    send(given('open').when('post m1').events);
    const [machine, { machine: folded, position }] = [actor.getSnapshot(), stateAfter('post m1')];
    expect(Object.keys(machine.children)).toEqual(['turn']);
    expect(Object.keys(fromPlain(toPlain({ machine, position })).machine.children)).toEqual([]);
    expect(Object.keys(folded.children)).toEqual([]);
  });
});
