import { describe, expect, test } from 'vitest';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import { decide } from '../../../../shared/domain/session/decide/index.ts';
import type { EventOf } from '../../../../shared/domain/session/events.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type Domain, deciding, holdsFor, type Intent, play } from '../../../support/domain/arbitraries.ts';
import { command, given, rowOf, tell } from '../../../support/domain/given.ts';

const talked = ['post m1 @100', 'reply m1/1 1 @100'] as const;
const again = (id: string) => [`post ${id} @100`, `reply ${id}/1 1 @100`] as const;

type Story = Parameters<typeof tell>;
const requestsIn = (...story: Story) =>
  tell(...story).commits.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'checkpoint_requested' ? [event] : [])),
  );
const rowAfter = (...story: Story) =>
  tell(...story).commits.reduce<IndexRow | null>((row, commit) => summarize(row, commit), null);

describe('why a checkpoint is requested (A7/81)', () => {
  test('A7/81: manual: when a person asks and there are messages since the last checkpoint', () => {
    given(...talked)
      .when('checkpoint')
      .then('checkpoint_requested manual s1 1-2');
    given(...talked, 'checkpoint')
      .when('checkpoint')
      .thenNothing();
    given(...talked, 'checkpoint', 'notice hello', 'origin x')
      .when('checkpoint')
      .thenNothing();
  });

  test('A7/81: manual: in the middle of a turn too; later messages belong to the next checkpoint', () => {
    given('post m1').when('checkpoint').then('checkpoint_requested manual s1 1-1');
    given('post m1', 'checkpoint', 'introspect 1 1', 'reply m1/1 1')
      .when('checkpoint')
      .then('checkpoint_requested manual s1 2-4');
  });

  test('A7/81: a request in a chat is answered either way', () => {
    const asked = (id: string) => {
      const { data, ...envelope } = command('checkpoint', id);
      return { ...envelope, data: { ...data, notice: { code: 'checkpoint' } } } as ReturnType<typeof command>;
    };
    given(...talked)
      .when(asked('c1'))
      .then('checkpoint_requested manual s1 1-2', 'notice checkpoint');
    given(...talked, 'checkpoint')
      .when(asked('c1'))
      .then('notice checkpoint');
    given().when(asked('c1')).then('notice checkpoint');
  });

  test('A7/81: turn_limit: after so many completed turns since the last time, whatever that was asked for', () => {
    const two = [...talked, ...again('m2')];
    given(...two)
      .when('checkpoint turns 3')
      .thenNothing();
    given(...two, ...again('m3'))
      .when('checkpoint turns 3')
      .then('checkpoint_requested turn_limit s1 1-6');
    given(...two, ...again('m3'), 'checkpoint turns 3')
      .when('checkpoint turns 3')
      .thenNothing();
    given(...two, 'checkpoint', ...again('m3'))
      .when('checkpoint turns 3')
      .thenNothing();
    given(...two, 'checkpoint', ...again('m3'), ...again('m4'), ...again('m5'))
      .when('checkpoint turns 3')
      .then('checkpoint_requested turn_limit s1 1-11');
  });

  test('A5/69, A7/81: turn_limit: a message that is only remembered is no turn; a silence after it is one like any other', () => {
    given('append m1', 'append m2', 'append m3', 'append m4').when('checkpoint turns 3').thenNothing();
    given('append m1 @100', 'append m2 @200').when('checkpoint idle 400 @599').thenNothing();
    given('append m1 @100', 'append m2 @200').when('checkpoint idle 400 @600').then('checkpoint_requested idle s1 1-2');
  });

  test('A7/81: turn_limit: a turn that failed or was stopped is none', () => {
    given(...talked, 'post m2', 'fail m2/1 1', 'post m3', 'stop')
      .when('checkpoint turns 2')
      .thenNothing();
  });

  test('A7/81, 83: idle: after a silence of that length, to the millisecond', () => {
    given(...talked)
      .when('checkpoint idle 400 @499')
      .thenNothing();
    given(...talked)
      .when('checkpoint idle 400 @500')
      .then('checkpoint_requested idle s1 1-2');
    given(...talked, 'checkpoint idle 400 @500')
      .when('checkpoint idle 400 @900')
      .thenNothing();
  });

  test('A7/83: idle: a message clears it, and so does its answer; what is no message does not', () => {
    given(...talked, 'append m2 @300')
      .when('checkpoint idle 400 @699')
      .thenNothing();
    given('post m1 @100', 'reply m1/1 1 @450').when('checkpoint idle 400 @849').thenNothing();
    given(...talked, 'notice hello @400', 'send deny @400', 'origin x @400', 'introspect 1 1 @400')
      .when('checkpoint idle 400 @500')
      .then('checkpoint_requested idle s1 2-6');
  });

  test('A7/83: idle: not while a turn runs or waits for a person, however long that takes', () => {
    given('post m1 @100').when('checkpoint idle 400 @9000').thenNothing();
    given('post m1 @100', 'ask m1/1 p1 99999').when('checkpoint idle 400 @9000').thenNothing();
    given('post m1 @100', 'ask m1/1 p1 99999', 'stop @200')
      .when('checkpoint idle 400 @9000')
      .then('checkpoint_requested idle s1 1-3');
  });

  test('A7/81: idle: an inactive session gets its checkpoint all the same', () => {
    given(...talked, 'deactivate')
      .when('checkpoint idle 400 @500')
      .then('checkpoint_requested idle s1 1-3');
  });

  test.each([
    ['a reset', 'reset s2', ['checkpoint_requested new_session s1 1-2', 'session_reset s1 to s2 g2']],
    [
      'a message that finds it stale',
      'post-under m2 s2 isolated',
      ['checkpoint_requested new_session s1 1-2', 'session_reset s1 to s2 g2', 'user_message m2 for a turn', 'turn_started m2/1'],
    ],
    ['a fork', 'fork s2 1', ['checkpoint_requested new_session s1 1-2', 'session_reset s1 to s2 g2 from 1']],
  ])('A7/81, C10: new_session: in the very commit of %s', (_, asked, outcome) => {
    given(...talked)
      .when(asked)
      .then(...outcome);
    given(...talked, 'checkpoint')
      .when(asked)
      .then(...outcome.slice(1));
  });

  test('A7/81: new_session: a generation without messages gets no checkpoint', () => {
    expect(requestsIn(...talked, 'reset s2', 'reset s3', 'reset s4').map(rowOf)).toEqual([
      'checkpoint_requested new_session s1 1-2',
    ]);
  });

  test('C9: what was deleted is not introspected', () => {
    expect(requestsIn(...talked, 'delete key')).toEqual([]);
    given(...talked, 'delete key')
      .when('checkpoint')
      .thenRefused('session_unknown');
    given(...talked, 'delete key')
      .when('checkpoint idle 1 @9000')
      .thenRefused('session_unknown');
  });
});

describe('what a checkpoint covers: adjacent ranges of revs (A7/80, 84)', () => {
  test('A7/84: each starts right after the last one covered', () => {
    given(...talked, 'checkpoint', 'introspect 1 2', ...again('m2'))
      .when('checkpoint')
      .then('checkpoint_requested manual s1 3-6');
  });

  test('A7/84: and names the sequence before it, so that no reader has to search', () => {
    const [first, second] = requestsIn(...talked, 'checkpoint', 'introspect 1 2', ...again('m2'), 'reset s2');
    expect(first).toMatchObject({ fromRev: 1, toRev: 2, afterSeq: 1 });
    expect(second).toMatchObject({ fromRev: 3, toRev: 6, afterSeq: 4 });
  });

  test('A7/80: one that is asked for before the last one came to anything covers the same too', () => {
    given(...talked, 'checkpoint', ...again('m2'))
      .when('checkpoint')
      .then('checkpoint_requested manual s1 1-5');
  });

  test('A7/80: what failed can be requested again without new messages', () => {
    const failed = [...talked, 'checkpoint', 'introspect-failed 1 2'];
    given(...failed)
      .when('checkpoint')
      .then('checkpoint_requested manual s1 1-2');
    given(...failed)
      .when('checkpoint idle 400 @500')
      .then('checkpoint_requested idle s1 1-2');
    given(...failed)
      .when('reset s2')
      .then('checkpoint_requested new_session s1 1-2', 'session_reset s1 to s2 g2');
  });

  test('A7/80: that is over when another request has had it', () => {
    const overlapping = [...talked, 'checkpoint', ...again('m2'), 'checkpoint', 'introspect-failed 1 2'];
    given(...overlapping, 'introspect 1 5')
      .when('checkpoint')
      .thenNothing();
  });

  test('A7/80: over a reset the ranges join, and none reaches into the other generation', () => {
    const told = [...talked, 'reset s2', ...again('m2')];
    expect(requestsIn(...told, 'checkpoint').map(rowOf)).toEqual([
      'checkpoint_requested new_session s1 1-2',
      'checkpoint_requested manual s2 3-5',
    ]);
    given(...told, 'introspect 1 2', 'checkpoint')
      .when('introspect 3 5 s2')
      .then('introspected manual s2 3-5', 'memory_changed introspection add');
  });

  test('A7/80: a turn that waited and renews the session: its commit ends the one range, the answer in it included', () => {
    const told = ['post m1', 'post-stale m2 followup', 'reply m1/1 1'];
    expect(requestsIn(...told).map(rowOf)).toEqual(['checkpoint_requested new_session s1 1-3']);
    given(...told, 'introspect 1 3', 'reply m2/1 1')
      .when('checkpoint')
      .then('checkpoint_requested manual of-m2 4-5');
  });

  test('A7/80: an answer that is all there is to introspect is not lost with its generation', () => {
    given('post m1', 'post-stale m2 followup', 'checkpoint', 'introspect 1 2')
      .when('reply m1/1 1')
      .then(
        'model_step m1/1 1 stop',
        'assistant_message m1/1',
        'turn_completed m1/1',
        'checkpoint_requested new_session s1 3-5',
        'session_reset s1 to of-m2 g2',
        'turn_started m2/1',
      );
  });

  test('A7/80: every message of any history is asked about, and nothing is asked about twice', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      let unasked: number[] = [];
      // No introspection is recorded without a request, and one that failed is requested again.
      const asking = wishes.filter(([verb]) => verb !== 'introspect' && verb !== 'introspect-failed');
      for (const { rev, events } of play(asking, under).commits)
        for (const event of events) {
          if (event.type === 'user_message' || event.type === 'assistant_message') unasked.push(rev);
          if (event.type === 'session_deleted') unasked = [];
          if (event.type === 'session_reset') expect(unasked).toEqual([]);
          if (event.type !== 'checkpoint_requested') continue;
          expect(unasked.filter((said) => said >= event.fromRev && said <= event.toRev)).toEqual(unasked);
          expect(unasked).not.toEqual([]);
          unasked = [];
        }
    };
    const forgetful: Domain['decide'] = (envelope, state) => {
      const { context } = state.machine;
      const machine = { ...state.machine, context: { ...context, review: { ...context.review, messages: 0 } } };
      return decide(envelope, { ...state, machine: machine as typeof state.machine });
    };
    holdsFor(property, {
      'nobody asks': deciding((events) => events.filter(({ type }) => type !== 'checkpoint_requested')),
      'what was asked about is forgotten': { decide: forgetful },
    });
  });

  test('A7/84: what is covered is covered once, and in order but for what had failed, whatever comes late', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      let covered = 0;
      const failed = new Set<number>();
      for (const { rev, events } of play(wishes, under).commits)
        for (const event of events) {
          if (event.type !== 'introspected' && event.type !== 'introspection_failed') continue;
          expect(event.toRev).toBeGreaterThanOrEqual(event.fromRev);
          expect(event.toRev).toBeLessThan(rev);
          for (let past = event.fromRev; past <= event.toRev; past++) {
            expect(past > covered || failed.has(past), `rev ${past}`).toBe(true);
            if (event.type === 'introspected') failed.delete(past);
            else failed.add(past);
          }
          covered = Math.max(covered, event.toRev);
        }
    };
    const unfenced: Domain['decide'] = (envelope, state) =>
      decide(envelope, { ...state, position: { ...state.position, covered: { rev: 0, seq: 0, gaps: [] } } });
    holdsFor(property, { 'a stale result counts': { decide: unfenced } });
  });
});

describe('the result of an introspection (A7/82, 84)', () => {
  const asked = [...talked, 'checkpoint'] as const;

  test('A7/84: one commit has what is covered and what changed', () => {
    given(...asked)
      .when('introspect 1 2')
      .then('introspected manual s1 1-2', 'memory_changed introspection add');
    const { state } = tell(...asked, 'introspect 1 2');
    expect(state.position.covered).toEqual({ rev: 2, seq: 4, gaps: [] });
    expect(state.machine.context.review).toEqual({
      ...{ messages: 2, turns: 1, workingMemory: 'notes up to 2', description: 'said up to 2', notedRev: 2 },
    });
  });

  test.each([
    ['the same once more', 'introspect 1 2'],
    ['one that covers some of it and more', 'introspect 2 4'],
    ['one that failed late', 'introspect-failed 1 2'],
    ['one of what has not happened yet', 'introspect 5 99'],
  ])('A7/84: a stale result changes nothing: %s', (_, late) => {
    given(...asked, 'introspect 1 2')
      .when(late)
      .thenNothing();
  });

  test('A7/84: a failed one changes nothing and names what was left out', () => {
    const before = tell(...asked, 'introspect 1 2', ...again('m2'), 'checkpoint');
    given(...asked, 'introspect 1 2', ...again('m2'), 'checkpoint')
      .when('introspect-failed 3 6')
      .then('introspection_failed s1 introspection_invalid');
    const after = tell(...asked, 'introspect 1 2', ...again('m2'), 'checkpoint', 'introspect-failed 3 6');
    expect(after.state.machine.context.review).toEqual(before.state.machine.context.review);
    const gap = { sessionId: 's1', fromRev: 3, toRev: 6, afterSeq: 4, tries: 1 };
    expect(after.state.position.covered).toEqual({ rev: 6, seq: 12, gaps: [gap] });
  });

  test('A7/84: while a turn runs or waits it takes nothing from it', () => {
    for (const busy of [['post m2'], ['post m2', 'ask m2/1 p1']]) {
      const { state } = tell(...asked, ...busy);
      const after = tell(...asked, ...busy, 'introspect 1 2').state;
      expect(after.machine.value).toBe(state.machine.value);
      expect(after.machine.context.turn).toEqual(state.machine.context.turn);
    }
  });

  test.each(['key', 'session', 'erased'])('C9: the result for a session that was deleted (%s) is dropped', (mode) => {
    given(...asked, `delete ${mode}`)
      .when('introspect 1 2')
      .thenNothing();
    given(...asked, `delete ${mode}`, ...again('m2'))
      .when('introspect 1 2')
      .thenNothing();
    given(...asked, `delete ${mode}`, ...again('m2'))
      .when('checkpoint')
      .then('checkpoint_requested manual s1#2 5-6');
  });

  test('A7/82: a late one, after a reset, belongs to the generation that it introspected, and the new one ignores it', () => {
    const late = [...talked, 'reset s2', 'post m2', 'introspect 1 2'];
    const { context } = tell(...late).state.machine;
    expect(context.review).toEqual({ messages: 0, turns: 0, workingMemory: '', description: '', notedRev: 0 });
    expect(rowAfter(...late)).toMatchObject({ workingMemory: '', description: '', introspectedAt: 0 });
  });

  test('A7/82: working memory and description are the generation’s: a reset and a fork begin without', () => {
    for (const begins of ['reset s2', 'fork s2 2']) {
      const story = [...asked, 'introspect 1 2', begins];
      expect(tell(...story).state.machine.context.review).toMatchObject({ workingMemory: '', description: '' });
      expect(rowAfter(...story)).toMatchObject({ workingMemory: '', description: '', descriptionSource: null });
    }
  });

  test('A2/17, A7/82, 84: lists show it, and when that was', () => {
    expect(rowAfter(...asked, 'introspect 1 2 @700')).toMatchObject({
      ...{ workingMemory: 'notes up to 2', description: 'said up to 2', descriptionSource: 'introspection' },
      introspectedAt: 700,
    });
  });

  test('A2/17, A7/82: a person’s description stays, over every introspection and reset, until they remove it', () => {
    const naming = (description: string | null) => {
      const envelope = command('send inherit', `named ${description}`);
      return { ...envelope, data: { type: 'patch_session', settings: { description } } } as ReturnType<typeof command>;
    };
    const mine = { description: 'my tea', descriptionSource: 'person' };
    const named: Story = [...asked, naming('my tea'), 'introspect 1 2'];
    expect(rowAfter(...named)).toMatchObject({ ...mine, workingMemory: 'notes up to 2' });
    expect(rowAfter(...asked, 'introspect 1 2', naming('my tea'))).toMatchObject(mine);
    expect(rowAfter(...named, 'reset s2')).toMatchObject(mine);
    expect(rowAfter(...named, naming(null))).toMatchObject({ description: '', descriptionSource: null });
    expect(rowAfter(...named, naming(null), ...again('m2'), 'checkpoint', 'introspect 3 8')).toMatchObject({
      ...{ description: 'said up to 8', descriptionSource: 'introspection' },
    });
    expect(rowAfter(...named, 'delete key', ...again('m2'))).toMatchObject({ description: '', descriptionSource: null });
  });
});

describe('what is remembered (A7/82)', () => {
  const changes = (...story: Story): EventOf<'memory_changed'>[] =>
    tell(...story).commits.flatMap(({ events }) => events.flatMap((event) => (event.type === 'memory_changed' ? [event] : [])));

  test('A7/82: by an introspection: with the revs that led to it', () => {
    expect(changes(...talked, 'checkpoint', 'introspect 1 2')).toMatchObject([
      { by: 'introspection', sessionId: 's1', fromRev: 1, toRev: 2, changes: [{ op: 'add' }] },
    ]);
  });

  test('A7/82: by the agent: with its call, once, however often the result comes', () => {
    const story = ['post m1', 'call m1/1 1 read run', 'remember m1/1 m1.1.0', 'remember m1/1 m1.1.0'];
    expect(changes(...story)).toMatchObject([{ by: 'agent', callId: 'm1.1.0', fromRev: 1, toRev: 2 }]);
  });

  test('A7/82: not by a call that failed or never started', () => {
    const failing = { ...command('remember m1/1 m1.1.0'), id: 'failed' };
    const failed = { ...failing, data: { ...failing.data, outcome: 'error' } } as typeof failing;
    expect(changes('post m1', 'call m1/1 1 read run', failed)).toEqual([]);
    given('post m1', 'call m1/1 1 read ask').when('remember m1/1 m1.1.0').thenNothing();
  });

  test('A7/82: by a person: with who it was, in whatever state the session is', () => {
    expect(changes(...talked, 'forget 4-0')).toMatchObject([
      { by: 'person', person: 'user-1', changes: [{ op: 'forget', id: '4-0', reason: 'asked' }] },
    ]);
  });

  test('A7/82: it does not count as use of the session, nor as something to introspect', () => {
    expect(rowAfter(...talked, 'forget 4-0 @900')).toMatchObject({ interactedAt: 100 });
    given(...talked, 'checkpoint', 'introspect 1 2', 'forget 4-0')
      .when('checkpoint')
      .thenNothing();
  });
});

describe('forks (B21)', () => {
  test('B21: a fork starts a generation that names its origin; the history stays', () => {
    const { commits, state } = tell(...talked, ...again('m2'), 'fork s2 2');
    expect(commits.at(-1)?.events.at(-1)).toMatchObject({
      ...{ type: 'session_reset', reason: 'fork', previousSessionId: 's1', sessionId: 's2', generation: 2 },
      forkedFrom: { sessionId: 's1', seq: 4, rev: 2 },
    });
    expect(commits).toHaveLength(5);
    expect(state.position).toMatchObject({ contextSeq: 2, skips: [{ after: 4, until: 10 }], startedRev: 5, window: [] });
  });

  test('B21: only from what there is', () => {
    given(...talked)
      .when('fork s2 3')
      .thenRefused('fork_invalid');
    given().when('fork s2 1').thenRefused('session_unknown');
    given(...talked, 'delete key')
      .when('fork s2 1')
      .thenRefused('session_unknown');
  });

  test('B21, C9: a point that was deleted meanwhile cannot be forked from', () => {
    const { data, ...envelope } = command('fork s2 1', 'forked');
    const chosen = { ...envelope, data: { ...data, ifDeletedGeneration: 0 } } as ReturnType<typeof command>;
    given(...talked)
      .when(chosen)
      .then('checkpoint_requested new_session s1 1-2', 'session_reset s1 to s2 g2 from 1');
    for (const mode of ['key', 'session', 'erased']) {
      given(...talked, `delete ${mode}`, ...again('m2'))
        .when(chosen)
        .thenRefused('fork_invalid');
    }
  });

  test('B21, I11: forks of forks are bounded', () => {
    const deep = { ...command('fork s9 1'), id: 'deep' };
    const skips = Array.from({ length: limits.forkDepth }, (_, index) => ({ after: 2 * index + 1, until: 2 * index + 2 }));
    const { data } = deep;
    if (data.type !== 'fork') throw new Error('a fork is a fork');
    given(...talked)
      .when({ ...deep, data: { ...data, from: { ...data.from, skips } } })
      .thenRefused('fork_invalid');
    given(...talked)
      .when({ ...deep, data: { ...data, from: { ...data.from, skips: skips.slice(1) } } })
      .then('checkpoint_requested new_session s1 1-2', 'session_reset s1 to s9 g2 from 1');
  });

  test('B21: runs that the session started elsewhere continue and are answered in the fork', () => {
    const { context } = tell('post m1', 'call m1/1 1 read spawn', 'fork s2 1').state.machine;
    expect(context.spawned).toHaveLength(1);
  });

  test('B21: who forks takes part', () => {
    const { data, ...envelope } = command('fork s2 1', 'forked');
    given(...talked, 'checkpoint')
      .when({ ...envelope, data: { ...data, by: { id: 'user-1' } } } as ReturnType<typeof command>)
      .then('session_reset s1 to s2 g2 from 1', 'participant_resolved user-1');
  });
});
