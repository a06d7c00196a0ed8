import { expect, test } from 'vitest';
import { leaverAmong } from '../../../services/page/past/left-behind.ts';
import { errorsAmong, hasFailed, headOf, nattersIn, Timeline } from '../../../services/page/past/timeline.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { command, tell } from '../../support/domain/given.ts';

/** What the time machine calls the commits of a history, and what it counts in them. */

const commitOf = (...types: readonly string[]) =>
  ({ events: types.map((type) => ({ type, outcome: 'ok' }) as unknown as SessionEvent) }) as unknown as RecordedCommit;

test.each([
  [
    'the answer, not what came with it',
    ['prompt_changed', 'model_step', 'assistant_message', 'turn_completed'],
    'assistant_message',
  ],
  ['the message that opened a session', ['session_opened', 'user_message', 'turn_started'], 'user_message'],
  ['the step, not its prompt', ['prompt_changed', 'model_step'], 'model_step'],
  ['a failure before all else', ['user_message', 'turn_failed'], 'turn_failed'],
  ['its first event, where none tells more', ['turn_completed', 'checkpoint_requested'], 'turn_completed'],
])('a commit is named after %s', (_, types, expected) => {
  expect(headOf(commitOf(...types))?.type).toBe(expected);
});

test.each([
  ['before any answer', ['post m1'], false],
  ['after one that failed', ['post m1', 'fail m1/1 1'], true],
  ['while nothing else has ended', ['post m1', 'fail m1/1 1', 'checkpoint', 'introspect-failed 1 3'], true],
  ['after a better one', ['post m1', 'fail m1/1 1', 'post m2', 'reply m2/1 1'], false],
  ['in another generation', ['post m1', 'fail m1/1 1', 'reset s2'], false],
])('whether the last answer failed, %s', (_, history, expected) => {
  const timeline = new Timeline();
  for (const commit of tell(...history).commits) timeline.add(commit);
  expect(hasFailed(timeline.commits, timeline.commits.length)).toBe(expected);
});

test('commits have the numbers that their session gives them, also where what was before is not there to see', () => {
  const timeline = new Timeline();
  const { commits } = tell('append m1', 'append m2', 'append m3', 'append m4');
  for (const commit of commits.slice(2)) timeline.add(commit);
  expect([0, 1, 2].map((place) => timeline.numberAt(place))).toEqual([0, 3, 4]);
  expect([0, 2, 3, 4, 9].map((number) => timeline.placeOf(number))).toEqual([0, 0, 1, 2, 2]);
});

test.each([
  ['none, where none did', ['post m1', 'reply m1/1 1'], null],
  ['the first, whatever came after it', ['post m1', 'fail m1/1 1', 'post m2', 'reply m2/1 1', 'post m3', 'fail m3/1 1'], 2],
  ['none of those before a reset', ['post m1', 'fail m1/1 1', 'reset s2', 'append m2'], null],
  ['no checkpoint', ['append m1', 'checkpoint', 'introspect-failed 1 2'], null],
])('the first answer that failed is %s', (_, history, expected) => {
  const timeline = new Timeline();
  for (const commit of tell(...history).commits) timeline.add(commit);
  expect(timeline.firstFailed()).toBe(expected);
});

test('an approval counts once, whether it is answered or not', () => {
  const timeline = new Timeline();
  for (const commit of tell('post m1', 'ask m1/1 p1', 'answer p1 granted').commits) timeline.add(commit);
  expect(timeline.marks.approval).toEqual([2]);
});

test('a failed answer is an error, a failed checkpoint is none; a fork is no reset, and ends where one begins', () => {
  const timeline = new Timeline();
  const history = [
    'post m1',
    'fail m1/1 1',
    'checkpoint',
    'introspect-failed 1 3',
    'fork s2 1',
    'append m2',
    'fork s3 6',
    'append m3',
  ];
  for (const commit of tell(...history, 'reset s4').commits) timeline.add(commit);
  expect(timeline.marks).toEqual({ error: [2], checkpoint: [4], reset: [9], fork: [5, 7], approval: [] });
  expect(timeline.forks()).toMatchObject([
    { place: 5, base: 1, ancestor: 1, end: 6 },
    { place: 7, base: 6, end: 8 },
  ]);
  expect([1, 2, 3, 4].map((place) => timeline.errorAt(place)?.type ?? null)).toEqual([null, 'turn_failed', null, null]);
  for (const place of [0, 1, 6, 9])
    expect(timeline.statesAround(place)).toEqual([timeline.stateAfter(Math.max(0, place - 1)), timeline.stateAfter(place)]);
  const errorsOf = (from: number, to: number) => errorsAmong(timeline.commits.slice(from, to));
  expect(errorsOf(1, 4).map(({ seq, error }) => [timeline.countAt(seq), error.type])).toEqual([[2, 'turn_failed']]);
  expect(errorsOf(4, 9)).toEqual([]);
});

test("Natter's own messages are counted between two places", () => {
  const timeline = new Timeline();
  const sender = { id: 'natter', role: 'program' } as const;
  tell('append m1', 'append m2', 'append m3').commits.forEach((commit, at) => {
    const events = commit.events.map((event) =>
      at === 1 && event.type === 'user_message' ? { ...event, message: { ...event.message, sender } } : event,
    );
    timeline.add({ ...commit, events });
  });
  expect([timeline.nattersBetween(0, 3), timeline.nattersBetween(0, 1), timeline.nattersBetween(2, 3)]).toEqual([1, 0, 0]);
  // The last commits alone tell it if the generation began in them.
  const seqs = timeline.commits.map(({ seq }) => seq);
  expect([1, 2, 3].map((from) => nattersIn(timeline.commits.slice(-from), seqs[1] ?? 0))).toEqual([null, 1, 1]);
  expect(nattersIn(timeline.commits, seqs[2] ?? 0)).toBe(0);
});

test.each([
  ['nothing, without a fork', ['append m1', 'append m2'], []],
  ['what came after the commit that a fork goes on from', ['append m1', 'append m2', 'append m3', 'fork s2 1'], [2, 3]],
  ['and what is said in the fork is not', ['append m1', 'append m2', 'fork s2 1', 'append m3'], [2]],
])('a fork leaves behind: %s', (_, history, expected) => {
  const timeline = new Timeline();
  for (const commit of tell(...history).commits) timeline.add(commit);
  expect(timeline.commits.filter(({ seq }) => timeline.isLeft(seq)).map(({ rev }) => rev)).toEqual(expected);
});

test('what an earlier fork left behind stays so after a fork of which the agent reads from a later reset on', () => {
  const timeline = new Timeline();
  const history = ['append m1', 'append m2', 'fork s2 1', 'reset s3', 'append m4', 'append m5', 'fork s4 5'];
  for (const commit of tell(...history).commits) {
    const events = commit.events.map((event) =>
      event.type === 'session_reset' && event.forkedFrom?.rev === 5
        ? { ...event, forkedFrom: { ...event.forkedFrom, contextSeq: 8 } }
        : event,
    );
    timeline.add({ ...commit, events });
  }
  expect(timeline.commits.filter(({ seq }) => timeline.isLeft(seq)).map(({ rev }) => rev)).toEqual([2, 6]);
});

const twice = ['post m1', 'reply m1/1 1', 'post m2', 'fail m2/1 1', 'fork s2 2', 'post m3', 'reply m3/1 1'];
test.each([
  ['the first time', twice, { base: 2, ancestor: 2, left: [3, 4], kept: [5, 6, 7] }],
  ['again from the same commit', [...twice, 'fork s3 2', 'post m4'], { base: 2, ancestor: 2, left: [5, 6, 7], kept: [8, 9] }],
  // The fork goes on from an answer that failed: the conversation before it had branched off at commit 2.
  ['from what a fork left behind', [...twice, 'fork s3 4'], { base: 4, ancestor: 2, left: [5, 6, 7], kept: [3, 4, 8] }],
  ['from before all branches', [...twice, 'fork s3 2', 'fork s4 1'], { base: 1, ancestor: 1, left: [2, 8], kept: [9] }],
  // The reset had ended what was before it: that was not there any more to be left behind, and neither is it common to both.
  [
    'from before a reset',
    ['post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'reset s2', 'append m3', 'fork s3 2', 'append m4'],
    { base: 2, ancestor: 0, left: [5, 6], kept: [7, 8] },
  ],
  [
    'from after a reset',
    ['post m1', 'stop', 'reset s2', 'append m2', 'append m3', 'fork s3 4'],
    { base: 4, ancestor: 4, left: [5], kept: [6] },
  ],
])('a fork leaves behind what its conversation still had right before it: %s', (_, history, expected) => {
  const timeline = new Timeline();
  for (const commit of tell(...history).commits) timeline.add(commit);
  const { left, kept, base, ancestor } = timeline.forks().at(-1) ?? expect.fail('no fork');
  const numbers = (commits: readonly RecordedCommit[]) => commits.map(({ rev }) => rev);
  expect({ base, ancestor, left: numbers(left), kept: numbers(kept) }).toEqual(expected);
});

test.each([
  ['without a fork', ['post m1', 'reply m1/1 1'], []],
  ['what came after its commit', ['post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'fork s2 2', 'post m3'], [3, 4]],
  ['what came back with a later fork', ['post m1', 'reply m1/1 1', 'post m2', 'fork s2 2', 'post m3', 'fork s3 3'], [4, 5]],
  ['nothing before a reset', ['post m1', 'reply m1/1 1', 'reset s2', 'post m2', 'reply m2/1 1', 'fork s3 4'], [5]],
])('the forks alone tell what they have left behind, those after a commit enough for it: %s', (_, history, expected) => {
  const { commits } = tell(...history);
  const told = new Timeline();
  for (const commit of commits) told.add(commit);
  const resets = commits.filter(({ events }) => events.some(({ type }) => type === 'session_reset'));
  const leftOf = (isLeft: (seq: number) => boolean): number[] => commits.flatMap(({ seq, rev }) => (isLeft(seq) ? [rev] : []));
  expect(leftOf((seq) => leaverAmong(resets, seq) !== '')).toEqual(expected);
  for (const { seq } of commits) expect(leaverAmong(resets, seq)).toBe(told.leaverOf(seq));
  expect(leftOf((seq) => told.isLeft(seq))).toEqual(expected);
});

type Command = ReturnType<typeof command>;
const changed = ({ data, ...envelope }: Command, change: object): Command =>
  ({ ...envelope, data: { ...data, ...change } }) as Command;

test('a reset that begins again from the first message leaves all behind that was said, as an edit', () => {
  const timeline = new Timeline();
  const restart = changed(command('reset s2'), { cause: { trigger: 'api', rule: 'another text' } });
  const fork = changed(command('fork s3 3'), { from: { sessionId: 's2', seq: 6, rev: 3, contextSeq: 6, skips: [] } });
  for (const commit of tell('post m1', 'reply m1/1 1', restart, 'append m2', fork, 'append m3').commits) timeline.add(commit);
  const numbers = (commits: readonly RecordedCommit[]) => commits.map(({ rev }) => rev);
  expect(timeline.forks().map(({ left, kept, ...rest }) => ({ ...rest, left: numbers(left), kept: numbers(kept) }))).toEqual([
    { place: 3, base: 0, ancestor: 0, end: 4, left: [1, 2], kept: [3, 4] },
    { place: 5, base: 3, ancestor: 3, end: 6, left: [4], kept: [5, 6] },
  ]);
  const [first, , , second] = timeline.commits.map(({ seq }) => timeline.leaverOf(seq));
  expect([first, second]).toEqual(['the edit', 'the fork']);
});
