import { describe, expect, test } from 'vitest';
import { afterCommitOf, type TrackedRun, unknownRun } from '../../../../../shared/domain/projections/run.ts';
import type { CommandEnvelope } from '../../../../../shared/domain/session/envelope.ts';
import { command, given, stateAfter, tell } from '../../../../support/domain/given.ts';

/** ADR 26: a turn that waits for results of the program's own tools. */

const step = 'model_step m1/1 1 continue';
const first = 'tool_call_started m1/1 m1.1.0 #1';

describe('the turn waits once nothing is left but calls of the program', () => {
  test.each<[string, string[]]>([
    ['client', [first, 'client_results_awaited m1/1 m1.1.0']],
    ['client client', [first, 'tool_call_started m1/1 m1.1.1 #1', 'client_results_awaited m1/1 m1.1.0 m1.1.1']],
    ['deny client', ['tool_result m1/1 m1.1.0 denied', 'tool_call_started m1/1 m1.1.1 #1', 'client_results_awaited m1/1 m1.1.1']],
    ['run client', [first]],
    ['client ask', ['approval_requested m1/1 p1']],
  ])('%s', (rulings, events) => {
    given('post m1')
      .when(`call m1/1 1 find ${rulings}`)
      .then(step, ...events);
  });

  test.each<[string, string[], string[]]>([
    [
      'when the others have ended',
      ['call m1/1 1 find run client', 'result m1/1 m1.1.0 ok'],
      ['tool_call_started m1/1 m1.1.1 #1', 'client_results_awaited m1/1 m1.1.1'],
    ],
    ['not while another runs', ['call m1/1 1 find run client'], []],
    ['not without a call of the program', ['call m1/1 1 find run'], []],
    ['not twice', ['call m1/1 1 find client'], []],
    ['not for an attempt that is over', ['call m1/1 1 find run client', 'result m1/1 m1.1.0 ok', 'resume'], []],
  ])('%s', (_, history, events) => {
    given('post m1', ...history)
      .when('await-results m1/1')
      .then(...events);
  });
});

const waiting = ['post m1', 'call m1/1 1 find client client'];
const both = 'm1.1.0:ok m1.1.1:error';
const results = ['tool_result m1/2 m1.1.0 ok', 'tool_result m1/2 m1.1.1 error'];

describe('results', () => {
  test.each<[string, string[], string, string[]]>([
    [
      'continue the turn as its next attempt',
      waiting,
      `give owner ${both}`,
      ['client_results_received m1/2 by owner-1', ...results],
    ],
    [
      'of a program that acts for the owner',
      waiting,
      `give program ${both}`,
      ['client_results_received m1/2 by boss', ...results],
    ],
    [
      'with a message that the next step reads',
      waiting,
      `give-saying m9 ${both}`,
      ['client_results_received m1/2 by owner-1', ...results, 'user_message m9 for a turn', 'turn_joined m1/2 m9'],
    ],
    ['of some calls are refused', waiting, 'give owner m1.1.0:ok', ['refused: results_incomplete']],
    ['of other calls are refused', waiting, 'give owner m0.1.0:ok', ['refused: results_unexpected']],
    ['of somebody else are refused', waiting, `give stranger ${both}`, ['refused: results_forbidden']],
    [
      'are for whoever asked',
      ['post-of m1 stranger', ...waiting.slice(1)],
      `give stranger ${both}`,
      ['refused: results_forbidden'],
    ],
    ['given twice are refused', [...waiting, `give owner ${both}`], `give owner ${both}`, ['refused: results_unexpected']],
    ['after a stop are refused', [...waiting, 'stop'], `give owner ${both}`, ['refused: results_unexpected']],
    [
      'of a call that runs here are refused',
      ['post m1', 'call m1/1 1 find run'],
      'give owner m1.1.0:ok',
      ['refused: results_unexpected'],
    ],
  ])('%s', (_, history, asked, events) => {
    given(...history)
      .when(asked)
      .then(...events);
  });

  test('a stranger gives the results of what they themselves asked for', () => {
    const given = command(`give stranger ${both}`);
    const data = { ...given.data, by: { id: 's1', role: 'participant', principal: 'irc:stranger' } } as CommandEnvelope['data'];
    const state = stateAfter('post-of m1 stranger', ...waiting.slice(1));
    expect(state.machine.context.turn?.askedBy).toBe('irc:stranger');
    expect(tell('post-of m1 stranger', ...waiting.slice(1), { ...given, data }).state.machine.value).toBe('running');
  });
});

describe('the wait ends without results', () => {
  test.each<[string, string[], string, string[]]>([
    ['in time, nothing', waiting, 'expire-results m1 @1000', []],
    [
      'after its deadline',
      [...waiting, 'append m2'],
      'expire-results m1 @1001',
      ['turn_aborted m1/1 the program gave no results of its tools in time'],
    ],
    ['for another turn, nothing', waiting, 'expire-results m2 @1001', []],
    ['once results are there, nothing', [...waiting, `give owner ${both}`], 'expire-results m1 @1001', []],
  ])('%s', (_, history, asked, events) => {
    given(...history)
      .when(asked)
      .then(...events);
  });

  test.each(['post m9', 'post-as m9 followup', 'post-as m9 steer', 'post-as m9 collect'])(
    'with the next message: %s',
    (asked) => {
      given(...waiting)
        .when(asked)
        .then(
          'turn_aborted m1/1 a newer message came instead of the results of the tools',
          ...['user_message m9 for a turn', 'turn_started m9/1'],
        );
    },
  );

  test("a stranger's message waits behind the owner's turn; so does the result of a spawned run", () => {
    given(...waiting)
      .when('post-of m9 ann')
      .then('user_message m9 for a turn', 'turn_queued m9 #1');
    given(...waiting)
      .when('answers m9 spawned-1')
      .then('user_message m9 for a turn', 'turn_queued m9 #1');
  });
});

describe('a message that brings tools', () => {
  const asking = (mode: string): CommandEnvelope => {
    const asked = command(`post-as m9 ${mode}`);
    if (asked.data.type !== 'post_message') throw new Error('a message');
    return { ...asked, data: { ...asked.data, message: { ...asked.data.message, client: { temperature: 0 } } } };
  };
  test.each(['steer', 'collect'])('has a turn of its own: %s', (mode) => {
    const { queue, turn } = tell('post m1', asking(mode), 'post-as m3 collect').state.machine.context;
    expect([turn?.joined, queue.map(({ collect }) => collect)]).toEqual([0, [undefined, true]]);
  });
});

test('the run of the message and the run of the results end together', () => {
  const { commits } = tell(...waiting, `give owner ${both}`, 'reply m1/2 2');
  const runOf = (id: string, upTo: number) =>
    commits.slice(0, upTo).reduce<TrackedRun>((found, commit) => afterCommitOf(found, commit, id), unknownRun(id, 0)).run;
  const gave = commits[2]?.command.id ?? '';
  expect(runOf('m1', 2)).toEqual({ runId: 'm1', status: 'awaiting_results', callIds: ['m1.1.0', 'm1.1.1'] });
  expect([runOf('m1', 3)?.status, runOf(gave, 3)?.status]).toEqual(['running', 'running']);
  expect([runOf('m1', 4)?.status, runOf(gave, 4)?.status]).toEqual(['ok', 'ok']);
});
