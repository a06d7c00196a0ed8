import { describe, expect, test } from 'vitest';
import { processSnapshotKey } from '../../../../shared/adapters/kv/snapshot-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import { decide } from '../../../../shared/domain/session/decide/index.ts';
import { fold, fromPlain, toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../../shared/wire/snapshot.ts';
import { type Domain, holdsFor, type Intent, play } from '../../../support/domain/arbitraries.ts';
import { given, key, tell } from '../../../support/domain/given.ts';

const ours = processSnapshotKey();

const talked = ['post m1 @100', 'reply m1/1 1 @100'] as const;
const again = (id: string) => [`post ${id} @100`, `reply ${id}/1 1 @100`] as const;
const failed = [...talked, 'checkpoint', 'introspect-failed 1 2'] as const;
const gapsAfter = (...story: Parameters<typeof tell>) =>
  tell(...story).state.position.covered.gaps.map(
    ({ sessionId, fromRev, toRev, tries, asked }) => `${sessionId} ${fromRev}-${toRev} ${tries}${asked ? ' asked' : ''}`,
  );

describe('a range whose introspection failed (A7/80, 84)', () => {
  test('A7/80: is left out: later messages are introspected without it, and it on its own', () => {
    given(...failed, ...again('m2'))
      .when('checkpoint')
      .then('checkpoint_requested manual s1 1-2', 'checkpoint_requested manual s1 3-6');
    given(...failed, ...again('m2'), 'checkpoint')
      .when('introspect 3 6')
      .then('introspected manual s1 3-6', 'memory_changed introspection add');
  });

  test('A7/80: of an ended generation can be requested again, whatever ended it and whatever came since', () => {
    for (const end of ['reset s2', 'post-under m2 s2 isolated', 'fork s2 1']) {
      const late = [...talked, end, 'introspect-failed 1 2'];
      expect(gapsAfter(...late)).toEqual(['s1 1-2 1']);
      const { events } = tell(...late, 'checkpoint').commits.at(-1) ?? { events: [] };
      expect(events[0]).toMatchObject({ type: 'checkpoint_requested', sessionId: 's1', fromRev: 1, toRev: 2, reason: 'manual' });
    }
    given(...talked, 'reset s2', 'introspect-failed 1 2', ...again('m2'), 'checkpoint', 'introspect 5 6 s2', 'reset s3')
      .when('introspect 1 2')
      .then('introspected manual s1 1-2', 'memory_changed introspection add');
  });

  test('A7/80: is asked for again with whatever is asked for next, so many times, and then only by a person', () => {
    const story: string[] = [...failed];
    for (let tries = 2; tries <= limits.introspectionTries; tries++) {
      given(...story)
        .when('checkpoint idle 400 @500')
        .then('checkpoint_requested idle s1 1-2');
      story.push('checkpoint idle 400 @500', 'introspect-failed 1 2');
    }
    given(...story)
      .when('checkpoint idle 400 @500')
      .thenNothing();
    given(...story)
      .when('reset s2')
      .then('session_reset s1 to s2 g2');
    given(...story, 'reset s2')
      .when('checkpoint')
      .then('checkpoint_requested manual s1 1-2');
    given(...story, 'checkpoint', 'introspect-failed 1 2')
      .when('checkpoint')
      .then('checkpoint_requested manual s1 1-2');
  });

  test('A7/80: is not requested while its introspection runs', () => {
    given(...failed, 'checkpoint')
      .when('checkpoint')
      .thenNothing();
    expect(gapsAfter(...failed, 'checkpoint')).toEqual(['s1 1-2 1 asked']);
    expect(gapsAfter(...failed, 'checkpoint', 'introspect-failed 1 2')).toEqual(['s1 1-2 2']);
  });

  test('A7/84: is introspected once, in parts too, and what is left of it stays', () => {
    const story = [...talked, ...again('m2'), 'checkpoint', 'introspect-failed 1 4', 'checkpoint'];
    expect(gapsAfter(...story, 'introspect 2 3')).toEqual(['s1 1-1 1 asked', 's1 4-4 1 asked']);
    given(...story, 'introspect 2 3')
      .when('introspect 2 3')
      .thenNothing();
    given(...story, 'introspect 2 3')
      .when('introspect 1 4')
      .thenNothing();
    expect(gapsAfter(...story, 'introspect 2 3', 'introspect-failed 4 4', 'introspect 1 1')).toEqual(['s1 4-4 2']);
    expect(gapsAfter(...story, 'introspect 1 4')).toEqual([]);
    // A request from before it failed has what is behind it too.
    given(...story, ...again('m3'))
      .when('introspect 1 9')
      .then('introspected manual s1 1-9', 'memory_changed introspection add');
  });

  test('A7/82: introspected after later messages, it changes the long-term memory, not the working memory', () => {
    const late = [...failed, ...again('m2'), 'checkpoint', 'introspect 3 6', 'introspect 1 2'];
    const { state, commits } = tell(...late);
    expect(state.machine.context.review).toMatchObject({ workingMemory: 'notes up to 6', description: 'said up to 6' });
    const row = commits.reduce<IndexRow | null>((before, commit) => summarize(before, commit), null);
    expect(row).toMatchObject({ workingMemory: 'notes up to 6', description: 'said up to 6' });
    expect(commits.at(-1)?.events.map(({ type }) => type)).toEqual(['introspected', 'memory_changed']);
    // With nothing behind it, it has the last word.
    expect(tell(...failed, 'introspect 1 2').state.machine.context.review.workingMemory).toBe('notes up to 2');
  });

  test('A7/84: adjacent ranges with as many tries become one: a model that never answers does not fill the list', () => {
    const story: string[] = [...talked];
    for (let turn = 2; turn < 20; turn++) {
      const { rev } = tell(...story, 'checkpoint').state.position;
      story.push('checkpoint');
      for (const event of tell(...story).commits.at(-1)?.events ?? []) {
        if (event.type === 'checkpoint_requested') story.push(`introspect-failed ${event.fromRev} ${event.toRev}`);
      }
      expect(rev).toBeGreaterThan(0);
      story.push(...again(`m${turn}`));
    }
    expect(gapsAfter(...story).length).toBeLessThanOrEqual(limits.introspectionTries);
  });

  test('C9: of a session that was deleted there is none', () => {
    expect(gapsAfter(...failed, 'delete key', ...again('m2'))).toEqual([]);
    expect(gapsAfter(...failed, 'delete erased')).toEqual([]);
    given(...failed, 'delete key', ...again('m2'))
      .when('introspect 1 2')
      .thenNothing();
  });

  test('I4: is in the snapshot', () => {
    const { state } = tell(...failed);
    const read = decodeSnapshot(key, encodeSnapshot(key, toPlain(state), ours), ours);
    expect(read && toPlain(fromPlain(read)).position.covered).toEqual(state.position.covered);
  });

  test('A7/84: is known of every rev, whatever fails, comes late or is done in parts', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const { state, commits } = play(wishes, under);
      const { covered } = state.position;
      const open = new Map<number, boolean>();
      for (const { rev, events } of commits)
        for (const event of events) {
          if (event.type === 'session_opened') for (let past = 1; past < rev; past++) open.delete(past);
          if (event.type !== 'introspected' && event.type !== 'introspection_failed') continue;
          for (let past = event.fromRev; past <= event.toRev; past++) {
            expect(open.get(past), `rev ${past} is introspected again`).not.toBe(false);
            open.set(past, event.type === 'introspection_failed');
          }
        }
      const known = covered.gaps.flatMap(({ fromRev, toRev }) =>
        Array.from({ length: toRev - fromRev + 1 }, (_, index) => fromRev + index),
      );
      if (state.machine.context.deleted) return;
      expect(known).toEqual([...open].flatMap(([rev, isOpen]) => (isOpen ? [rev] : [])).sort((one, other) => one - other));
    };
    const forgetful: Domain['fold'] = (before, commit) => {
      const state = fold(before, commit);
      return { ...state, position: { ...state.position, covered: { ...state.position.covered, gaps: [] } } };
    };
    const unfenced: Domain['decide'] = (envelope, state) =>
      decide(envelope, { ...state, position: { ...state.position, covered: { rev: 0, seq: 0, gaps: [] } } });
    holdsFor(property, { 'a failure is forgotten': { fold: forgetful }, 'a stale result counts': { decide: unfenced } });
  });
});
