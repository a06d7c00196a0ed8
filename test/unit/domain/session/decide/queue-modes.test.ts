import { describe, expect, test } from 'vitest';
import type { IndexRow } from '../../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../../shared/domain/projections/summary.ts';
import type { QueuedTurn } from '../../../../../shared/domain/session/queued-turn.ts';
import { limits } from '../../../../../shared/kit/limits.ts';
import { given, stateAfter, tell } from '../../../../support/domain/given.ts';

const turnAfter = (...history: string[]) => stateAfter(...history).machine.context.turn;
const waitingAfter = (...history: string[]) => stateAfter(...history).machine.context.queue.map(({ id }: QueuedTurn) => id);
const queuedInRow = (...history: string[]) =>
  tell(...history).commits.reduce<IndexRow | null>((row, commit) => summarize(row, commit), null)?.queuedTurns;

const histories: Record<string, string[]> = {
  idle: ['open'],
  running: ['post m1', 'continue m1/1 1'],
  awaiting: ['post m1', 'ask m1/1 p1'],
};
const begins = ['user_message m9 for a turn', 'turn_started m9/1'];
const waits = ['user_message m9 for a turn', 'turn_queued m9 #1'];

describe('a message under each mode, in each status (B6)', () => {
  test.each<[string, string, string[]]>([
    ['idle', 'followup', begins],
    ['idle', 'collect', begins],
    ['idle', 'steer', begins],
    ['idle', 'interrupt', begins],
    ['idle', 'reject', begins],
    ['running', 'followup', waits],
    ['running', 'collect', waits],
    ['running', 'steer', ['user_message m9 for a turn', 'turn_joined m1/1 m9']],
    ['running', 'interrupt', ['turn_aborted m1/1 a newer message interrupts', ...begins]],
    ['running', 'reject', ['message_refused m9 session_busy']],
    ['awaiting', 'followup', waits],
    ['awaiting', 'collect', waits],
    ['awaiting', 'steer', ['user_message m9 for a turn', 'turn_joined m1/1 m9']],
    ['awaiting', 'interrupt', ['turn_aborted m1/1 a newer message interrupts', ...begins]],
    ['awaiting', 'reject', ['message_refused m9 session_busy']],
  ])('%s, %s', (status, mode, events) => {
    given(...(histories[status] ?? []))
      .when(`post-as m9 ${mode}`)
      .then(...events);
  });
});

describe('limits of the queue (I11)', () => {
  test.each<[string, string[]]>([
    ['post-limit m9 0', ['message_refused m9 queue_full']],
    ['post-limit m9 1', ['message_refused m9 queue_full']],
    ['post-limit m9 2', ['user_message m9 for a turn', 'turn_queued m9 #2']],
    ['post-limit m9 1 collect', ['message_refused m9 queue_full']],
    ['post-limit m9 0 steer', ['user_message m9 for a turn', 'turn_joined m1/1 m9']],
  ])('%s behind one that waits', (asked, events) => {
    given('post m1', 'post m2')
      .when(asked)
      .then(...events);
  });

  test(`after ${limits.queuedTurns} have joined a turn, the next one waits`, () => {
    const joined = Array.from({ length: limits.queuedTurns }, (_, index) => `post-as j${index} steer`);
    given('post m1', ...joined)
      .when('post-as m9 steer')
      .then('user_message m9 for a turn', 'turn_queued m9 #1');
  });
});

describe('debounce: a turn takes its first step after a quiet time', () => {
  const quiet = ['post-as m1 followup 500 @100'];

  test.each(['followup', 'collect', 'steer', 'interrupt', 'reject'])('%s: what comes meanwhile joins', (mode) => {
    given(...quiet)
      .when(`post-as m2 ${mode} 500 @599`)
      .then('user_message m2 for a turn', 'turn_joined m1/1 m2');
  });

  test('each message restarts the quiet time; one without a time leaves it as it is', () => {
    expect(turnAfter(...quiet)?.quietUntil).toBe(600);
    expect(turnAfter(...quiet, 'post-as m2 followup 500 @400')?.quietUntil).toBe(900);
    expect(turnAfter(...quiet, 'post m2 @400')?.quietUntil).toBe(600);
  });

  test('when the time is over, the mode counts', () => {
    given(...quiet)
      .when('post-as m2 followup 500 @600')
      .then('user_message m2 for a turn', 'turn_queued m2 #1');
    given(...quiet, 'continue m1/1 1')
      .when('post-as m2 followup 500 @400')
      .then('user_message m2 for a turn', 'turn_queued m2 #1');
  });

  test('a turn that has taken its first step has no quiet time again', () => {
    expect(turnAfter('post m1', 'post-as m2 steer 500')).toMatchObject({ joined: 1, step: 1 });
    expect(turnAfter('post m1', 'post-as m2 steer 500')?.quietUntil).toBeUndefined();
  });

  test('an interrupting turn has a quiet time as any other', () => {
    expect(turnAfter('post m1', 'post-as m2 interrupt 500 @100')).toMatchObject({ id: 'm2', quietUntil: 600 });
  });
});

describe('collect: what waits is answered together', () => {
  const done = 'reply m1/1 1';
  const startedAfter = (...waiting: string[]) => {
    const { merged = [], id } = turnAfter('post m1', ...waiting, done) ?? { id: '' };
    return [id, ...merged].join(' ');
  };

  test.each<[string, string[], string, string[]]>([
    ['neighbours', ['post-as m2 collect', 'post-as m3 collect', 'post-as m4 collect'], 'm2 m3 m4', []],
    ['not behind another mode', ['post m2', 'post-as m3 collect'], 'm2', ['m3']],
    ['up to another mode', ['post-as m2 collect', 'post m3', 'post-as m4 collect'], 'm2', ['m3', 'm4']],
    ['up to another place', ['post-to m2 #a collect', 'post-to m3 #a collect', 'post-to m4 #b collect'], 'm2 m3', ['m4']],
    ['a place and none are two', ['post-to m2 #a collect', 'post-as m3 collect'], 'm2', ['m3']],
    ['up to a new generation', ['post-as m2 collect', 'post-stale m3 collect'], 'm2', ['m3']],
    ['from a new generation on', ['post-stale m2 collect', 'post-as m3 collect'], 'm2 m3', []],
    ['up to a compaction', ['post-as m2 collect', 'compact c1', 'post-as m3 collect'], 'm2', ['c1', 'm3']],
  ])('%s', (_, waiting, together, left) => {
    expect(startedAfter(...waiting)).toBe(together);
    expect(waitingAfter('post m1', ...waiting, done)).toEqual(left);
    expect(queuedInRow('post m1', ...waiting, done)).toBe(left.length);
  });

  test('deletion ends the merged ones too (C9)', () => {
    given('post m1', 'post-as m2 collect', 'post-as m3 collect', done, 'post m4')
      .when('delete key')
      .then('session_deleted key g1 e1 m2 m3 m4');
  });
});

describe('steer: the running turn hears it at its next step', () => {
  const steered = ['post m1', 'post-as m2 steer'];

  test('a step that has heard it answers both', () => {
    given(...steered)
      .when('reply m1/1 1 1')
      .then('model_step m1/1 1 stop', 'assistant_message m1/1', 'turn_completed m1/1');
  });

  test('an answer that has not is sent all the same, and the turn continues', () => {
    const answered = given(...steered).when('reply m1/1 1 0');
    answered.then('model_step m1/1 1 stop', 'assistant_message m1/1');
    expect(answered.events[1]).toMatchObject({ interim: true, messageId: 'm1.1' });
    given(...steered, 'reply m1/1 1 0')
      .when('reply m1/1 2 1')
      .then('model_step m1/1 2 stop', 'assistant_message m1/1', 'turn_completed m1/1');
  });

  test('a failure ends it for all of them', () => {
    given(...steered)
      .when('fail m1/1 1')
      .then('turn_failed m1/1 model_failed');
    given(...steered)
      .when('stop')
      .then('turn_aborted m1/1 stop');
  });

  test('the last step a turn may take answers, and messages that it missed are announced', () => {
    const steps = Array.from({ length: limits.turnSteps - 1 }, (_, index) => `continue m1/1 ${index + 1}`);
    const last = limits.turnSteps;
    given('post m1', ...steps, 'post-as m2 steer')
      .when(`reply m1/1 ${last} 0`)
      .then(`model_step m1/1 ${last} stop`, 'assistant_message m1/1', 'turn_failed m1/1 steps_exhausted');
  });

  test.each<[string, string[], string, boolean]>([
    ['the same place', ['post-to m1 #a'], 'post-to m2 #a steer', true],
    ['another place: its answer would go to strangers', ['post-to m1 #a'], 'post-to m2 #b steer', false],
    ['a place, where the turn is answered at none', ['post m1'], 'post-to m2 #a steer', false],
    ['no place of its own: whoever asks follows', ['post-to m1 #a'], 'post-as m2 steer', true],
    ['a stale session', ['post m1'], 'post-stale m2 steer', false],
    ['a compaction', ['post m0', 'reply m0/1 1', 'compact m1'], 'post-as m2 steer', false],
  ])('%s', (_, history, asked, joins) => {
    const { rows } = given(...history).when(asked);
    expect(rows).toEqual(['user_message m2 for a turn', joins ? 'turn_joined m1/1 m2' : 'turn_queued m2 #1']);
  });

  test('who is refused in a quiet time is not put in the queue instead', () => {
    given('post-to m1 #a', 'continue m1/1 1').when('post-to m2 #b reject').then('message_refused m2 session_busy');
  });
});

describe('the place of an answer has a thread and an account too (B6)', () => {
  test.each<[string, string, string, boolean]>([
    ['all the same', 'work:#a/7', 'work:#a/7', true],
    ['another thread', '#a/7', '#a/8', false],
    ['a thread and none', '#a/7', '#a', false],
    ['another account', 'work:#a', 'home:#a', false],
    ['an account and none', 'work:#a', '#a', false],
  ])('%s', (_, one, other, isSame) => {
    const collected = turnAfter('post m1', `post-to m2 ${one} collect`, `post-to m3 ${other} collect`, 'reply m1/1 1');
    expect(collected?.merged ?? []).toEqual(isSame ? ['m3'] : []);
    given(`post-to m1 ${one}`)
      .when(`post-to m2 ${other} steer`)
      .then('user_message m2 for a turn', isSame ? 'turn_joined m1/1 m2' : 'turn_queued m2 #1');
  });
});

describe('interrupt: the newest message wins', () => {
  test('what is queued stays queued, and the index shows it', () => {
    const history = ['post m1', 'post m2', 'post m3'];
    expect(waitingAfter(...history, 'post-as m4 interrupt')).toEqual(['m2', 'm3']);
    expect(queuedInRow(...history, 'post-as m4 interrupt')).toBe(2);
    given(...history, 'post-as m4 interrupt')
      .when('reply m4/1 1')
      .then('model_step m4/1 1 stop', 'assistant_message m4/1', 'turn_completed m4/1', 'turn_started m2/1');
  });

  test('I1: in a stale session too no queued message is lost', () => {
    given('post m1', 'post m2')
      .when('post-stale m3 interrupt')
      .then(
        'turn_aborted m1/1 a newer message interrupts',
        'checkpoint_requested new_session s1 1-2',
        'session_reset s1 to of-m3 g2',
        'user_message m3 for a turn',
        'turn_started m3/1',
      );
    expect(waitingAfter('post m1', 'post m2', 'post-stale m3 interrupt')).toEqual(['m2']);
    expect(queuedInRow('post m1', 'post m2', 'post-stale m3 interrupt')).toBe(1);
  });

  test('an approval is withdrawn, and a late result of the old turn changes nothing (I5)', () => {
    const history = ['post m1', 'call m1/1 1 read run', 'post-as m2 interrupt'];
    given(...history)
      .when('result m1/1 m1.1.0 ok')
      .thenNothing();
    expect(stateAfter('post m1', 'ask m1/1 p1', 'post-as m2 interrupt').machine.context.approval).toBeNull();
  });

  test.each<[string, string, 'interrupts' | 'waits']>([
    ["of the owner or a program, another's turn", 'post-of m1 ann / post-as m2 interrupt', 'interrupts'],
    ['of a stranger, their own', 'post-of m1 ann / post-of m2 ann interrupt', 'interrupts'],
    ["of a stranger, the owner's or a program's", 'post m1 / post-of m2 ann interrupt', 'waits'],
    ["of a stranger, the owner's that asks for an approval", 'post m1 / ask m1/1 p1 / post-of m2 ann interrupt', 'waits'],
    ["of a stranger, another stranger's", 'post-of m1 bob / post-of m2 ann interrupt', 'waits'],
    ['of a stranger, one that somebody has joined', 'post-of m1 ann / post-of j1 bob steer / post-of m2 ann interrupt', 'waits'],
    ["of a program that acts for a stranger, the owner's", 'post m1 / answers m2 spawned-9 interrupt', 'waits'],
    ["of a program that acts for a stranger, another stranger's", 'post-of m1 ann / answers m2 spawned-9 interrupt', 'waits'],
  ])('D7: %s: %s: %s', (_, rows, does) => {
    const history = rows.split(' / ');
    given(...history.slice(0, -1))
      .when(history.at(-1) ?? '')
      .then(
        ...(does === 'waits' ? [] : ['turn_aborted m1/1 a newer message interrupts']),
        'user_message m2 for a turn',
        does === 'waits' ? 'turn_queued m2 #1' : 'turn_started m2/1',
      );
  });

  test('D7: a stranger whose message may not interrupt finds the limit of the queue', () => {
    given('post m1').when('post-of-limit m2 ann 0 interrupt').then('message_refused m2 queue_full');
  });

  test('a compaction is not interrupted', () => {
    given('post m0', 'reply m0/1 1', 'compact c1')
      .when('post-as m2 interrupt')
      .then('user_message m2 for a turn', 'turn_queued m2 #1');
  });
});
