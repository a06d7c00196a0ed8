import { describe, expect, test } from 'vitest';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { evolve, fold, initialState } from '../../../../shared/domain/session/fold/evolve.ts';
import { AssertionError } from '../../../../shared/kit/assert.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { command, commitOf, given, stateAfter, tell } from '../../../support/domain/given.ts';

describe('a history with a hole is not folded (I3, I5)', () => {
  const state = stateAfter('post m1');
  const asked = command('stop');
  const next = commitOf(state, asked, given('post m1').when(asked).events);

  test('the commit that follows is', () => expect(fold(state, next).position).toMatchObject({ rev: 2, seq: next.seq }));

  test.each<[string, Partial<RecordedCommit>]>([
    ['a missing commit', { rev: 3 }],
    ['a repeated commit', { rev: 1 }],
    ['a sequence that does not grow', { seq: state.position.seq }],
    ['an epoch that the events do not make', { epoch: 5 }],
    ['an older epoch', { epoch: 0 }],
    ['an event that is impossible in this status', { events: [{ type: 'session_reopened', v: 1 }], epoch: 0 }],
  ])('%s breaks it', (_, change) => expect(() => fold(state, { ...next, ...change })).toThrow(AssertionError));

  test('an event without a transition is named with the status', () => {
    const event: SessionEvent = { type: 'turn_completed', v: 1, turn: { id: 'm1', attempt: 1 } };
    expect(() => evolve(initialState.machine, event)).toThrow('no transition for turn_completed in inactive');
  });
});

describe('the position after a commit', () => {
  test('the watermark follows the commands of the queue and stays at those of the host', () => {
    const before = stateAfter('open');
    const queued = fold(before, commitOf(before, command('post m1'), given('open').when('post m1').events, 9));
    expect(queued.position.command).toEqual({ seq: 9, incarnation: 1 });
    const resumed = commitOf(queued, command('resume'), [
      { type: 'turn_resumed', v: 1, turn: { id: 'm1', attempt: 2 }, step: 1 },
    ]);
    expect(fold(queued, resumed).position.command).toEqual({ seq: 9, incarnation: 1 });
  });

  test(`the window has the last ${limits.windowCommits} commits with messages, and is empty after a reset`, () => {
    const { state, commits } = tell(...Array.from({ length: limits.windowCommits + 3 }, (_, i) => `append n${i}`));
    expect(state.position.window).toEqual(commits.slice(3).map(({ seq }) => seq));
    expect(stateAfter('post m1', 'continue m1/1 1', 'stop').position.window).toHaveLength(1);
    expect(stateAfter('append m1', 'reset s2').position.window).toEqual([]);
  });
});

describe('the index row (A2/17)', () => {
  const rowAfter = (...history: Parameters<typeof tell>): IndexRow =>
    tell(...history).commits.reduce<IndexRow | null>(summarize, null) as IndexRow;
  const said = (text: string, sender: string, index: number) => ({
    ...command(`append m${index}`, `c${index}`),
    data: { type: 'append_message' as const, sessionId: 's1', message: { messageId: `m${index}`, text, sender: { id: sender } } },
  });

  test('counts what happened', () => {
    expect(rowAfter('post m1', 'continue m1/1 1', 'reply m1/1 2', 'post m2', 'fail m2/1 1')).toMatchObject({
      messageCount: 3,
      completedTurns: 1,
      failedTurns: 1,
      inputTokens: 4,
      outputTokens: 6,
      totalTokens: 10,
      participants: ['user-1'],
      lastMessagePreview: 'text of m2',
    });
  });

  test.each([
    [['post m1', 'fail m1/1 1'], true],
    [['post m1', 'fail m1/1 1', 'post m2'], true],
    [['post m1', 'fail m1/1 1', 'post m2', 'reply m2/1 1'], false],
    [['post m1', 'fail m1/1 1', 'post m2', 'stop'], false],
    [['post m1', 'fail m1/1 1', 'reset'], false],
    [['post m1', 'reply m1/1 1'], false],
  ] as const)('says whether the last turn failed: %s', (history, failed) => {
    expect(rowAfter(...history).failedLastRun).toBe(failed);
  });

  test(`previews are one line of at most ${limits.previewCharacters} whole characters`, () => {
    const { lastMessagePreview } = rowAfter(said(`one\n\ttwo ${'😀'.repeat(300)}`, 'u', 1));
    expect([...lastMessagePreview]).toHaveLength(limits.previewCharacters);
    expect(lastMessagePreview).toMatch(/^one two 😀+…$/u);
    expect(rowAfter(said('short', 'u', 1)).lastMessagePreview).toBe('short');
  });

  test(`the last ${limits.participants} participants are listed, each once (I11)`, () => {
    const people = Array.from({ length: limits.participants + 5 }, (_, i) => said('hi', `u${i}`, i));
    const { participants } = rowAfter(...people, said('again', `u${limits.participants + 4}`, 999));
    expect(participants).toHaveLength(limits.participants);
    expect([participants[0], participants.at(-1)]).toEqual(['u5', `u${limits.participants + 4}`]);
  });
});
