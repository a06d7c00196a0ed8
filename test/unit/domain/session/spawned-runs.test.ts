import { describe, expect, test } from 'vitest';
import type { EventOf } from '../../../../shared/domain/session/events.ts';
import { command, given, stateAfter } from '../../../support/domain/given.ts';

/** Runs that a session starts in others (A11/125). */
const spawning = ['post m1', 'call m1/1 1 sessions_spawn spawn spawn'];
const spawnedAfter = (...history: string[]) => stateAfter(...history).machine.context.spawned.map(({ runId }) => runId);

describe('a run in another session is known from the beginning of its call on', () => {
  test.each<[string, string[], string[]]>([
    ['the step begins the calls', spawning, ['spawned-0', 'spawned-1']],
    ['the call begins late', ['post m1', 'call-unruled m1/1 1 sessions_spawn', 'start m1/1 m1.1.0 7'], ['spawned-7']],
    ['a person allows the call', ['post m1', 'call m1/1 1 sessions_spawn ask-spawn', 'answer p0 granted'], ['spawned-0']],
    ['a person does not', ['post m1', 'call m1/1 1 sessions_spawn ask-spawn', 'answer p0 denied'], []],
    ['the call begins again', [...spawning, 'resume', 'start m1/2 m1.1.0 0'], ['spawned-1', 'spawned-0']],
    ['its call ends well', [...spawning, 'result m1/1 m1.1.0 ok'], ['spawned-0', 'spawned-1']],
    ['its call fails: the run may be there all the same', [...spawning, 'result m1/1 m1.1.0 error'], ['spawned-1']],
    ['its result comes', [...spawning, 'answers m2 spawned-0'], ['spawned-1']],
    ['a result comes that nobody waits for', [...spawning, 'answers m2 spawned-9'], ['spawned-0', 'spawned-1']],
    ['its result finds no place', [...spawning, 'answers m2 spawned-0 reject'], ['spawned-1']],
    ['its session stops', [...spawning, 'stop'], []],
    ['its session is reset: what it began goes on', [...spawning, 'reset s2'], ['spawned-0', 'spawned-1']],
    ['a newer message interrupts', [...spawning, 'post-as m2 interrupt'], ['spawned-0', 'spawned-1']],
    ['its session is deleted', [...spawning, 'delete key'], []],
  ])('%s', (_, history, left) => expect(spawnedAfter(...history)).toEqual(left));
});

describe('what it began ends with the session', () => {
  const waiting = [...spawning, 'result m1/1 m1.1.0 ok', 'result m1/1 m1.1.1 ok', 'reply m1/1 2'];

  test('by /stop, whether its turn still runs or not', () => {
    given(...spawning, 'post m2')
      .when('stop')
      .then('queue_cleared m2', 'turn_aborted m1/1 stop', 'runs_stopped spawned-0 spawned-1');
    given(...waiting)
      .when('stop')
      .then('runs_stopped spawned-0 spawned-1');
  });

  test.each<[string[], string]>([
    [['open'], 'Nothing was running.'],
    [['post m1', 'post m2'], 'Stopped the answer and cleared 1 waiting message.'],
    [[...spawning, 'post m2', 'post m3'], 'Stopped the answer and 2 sub-agent runs, and cleared 2 waiting messages.'],
    [waiting, 'Stopped 2 sub-agent runs.'],
  ])('after %j: %s', (history, text) => {
    expect(
      given(...history)
        .when('stop-told')
        .events.at(-1),
    ).toMatchObject({ notice: { text } });
  });

  test('by deletion; an erased history starts with its erasure (C9)', () => {
    given(...waiting)
      .when('delete session')
      .then('runs_stopped spawned-0 spawned-1', 'session_deleted session g1 e1');
    given(...spawning)
      .when('delete erased')
      .then('session_deleted erased g1 e1 m1', 'runs_stopped spawned-0 spawned-1');
  });

  test('a run whose call has failed is stopped', () => {
    given(...spawning)
      .when('result m1/1 m1.1.1 error')
      .then('tool_result m1/1 m1.1.1 error', 'runs_stopped spawned-1');
  });

  test('they are stopped once', () => {
    given(...spawning, 'stop')
      .when('stop')
      .thenNothing();
  });
});

describe('the result of a run is answered where the last answers went (A13/138)', () => {
  test.each<[string, string[], object]>([
    ['the last message', ['post-to m1 #a', 'reply m1/1 1', 'answers m2 spawned-0'], { deliverTo: { channel: 'irc', to: '#a' } }],
    ['a route', ['append m0', 'route #b', 'answers m2 spawned-0'], { deliverTo: { channel: 'irc', to: '#b' } }],
  ])('%s', (_, history, turn) => expect(stateAfter(...history).machine.context.turn).toMatchObject({ id: 'm2', ...turn }));

  test('nowhere, where there never was one; an ordinary message without a place has none', () => {
    expect(stateAfter('answers m2 spawned-0').machine.context.turn?.deliverTo).toBeUndefined();
    expect(stateAfter('append m0', 'route #b', 'post m2').machine.context.turn?.deliverTo).toBeUndefined();
  });

  test('with no more rights than the person who started the run; for an unknown run, with no more than a participant (A5/62)', () => {
    const begins = (onBehalfOf?: 'participant') => {
      const start = command('start m1/1 m1.1.0 7');
      const spawn = { key: 'agent:main:subagent:1', runId: 'spawned-7', ...(onBehalfOf && { onBehalfOf }) };
      return { ...start, data: { ...start.data, spawn } } as typeof start;
    };
    const resultOf = (...history: (string | ReturnType<typeof command>)[]) =>
      given('post m1', 'call-unruled m1/1 1 sessions_spawn', ...history).when('answers m2 spawned-7').events[0];
    const behalfOf = (...history: Parameters<typeof resultOf>) =>
      (resultOf(...history) as EventOf<'user_message'>).message.sender.onBehalfOf;
    expect(behalfOf(begins())).toBeUndefined();
    expect(behalfOf(begins('participant'))).toBe('participant');
    expect(behalfOf(begins(), 'stop')).toBe('participant');
  });

  test('a result that was planned for a deleted session is refused, and its run forgotten', () => {
    const late = { ...command('answers m2 spawned-0'), ifGeneration: 1 };
    const { events } = given(...spawning, 'delete key', 'post m3').when(late);
    expect(events).toMatchObject([{ type: 'message_refused', code: 'session_deleted', answers: 'spawned-0' }]);
  });
});
