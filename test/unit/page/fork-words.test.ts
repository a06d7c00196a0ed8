import { expect, test } from 'vitest';
import { Timeline } from '../../../services/page/past/timeline.ts';
import {
  forkBefore,
  forkHere,
  forkWords,
  givenModel,
  leavesBehind,
  placeBeforeFailed,
} from '../../../services/page/time-machine/fork-words.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { tell } from '../../support/domain/given.ts';

/** What a person is told before a session is forked at an earlier moment. */

const timeline = new Timeline();
for (const commit of tell('post m1', 'reply m1/1 1', 'post m2', 'fail m2/1 1').commits) timeline.add(commit);
const told = (place: number): string => forkWords(timeline, place).join('\n');
const isNotAnswered = 'is not answered again';

test('a question that has no answer at that moment gets none by itself', () => {
  expect(told(3)).toContain(isNotAnswered);
  expect(told(1)).toContain(isNotAnswered);
  expect(told(2)).not.toContain(isNotAnswered);
  expect(told(4)).not.toContain(isNotAnswered);
});

test('what another person has asked is not to be tried again on the page', () => {
  const theirs = new Timeline();
  for (const commit of tell('post m1', 'fail m1/1 1').commits)
    theirs.add({
      ...commit,
      events: commit.events.map((event) =>
        event.type === 'user_message'
          ? { ...event, message: { ...event.message, sender: { id: 'telegram:1', role: 'participant' } } }
          : event,
      ),
    });
  expect(forkWords(theirs, 1).join('\n')).toContain('write on, or let its sender ask again.');
  expect(told(1)).toContain('write on, or choose Try again below it.');
});

test('where the session goes on, and how much of the conversation is left behind', () => {
  expect(told(2)).toContain(
    'goes on from commit 2 (no new session is made), and the agent forgets 1 message since then; the log keeps it.',
  );
  expect(told(1)).toContain(
    'goes on from commit 1 (no new session is made), and the agent forgets 2 messages since then; the log keeps them.',
  );
  expect(told(4)).toContain('goes on from commit 4 (no new session is made). Its memories stay');
});

test('what an earlier fork left behind is not forgotten a second time', () => {
  const again = new Timeline();
  for (const commit of tell('post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'fork s2 1', 'post m3').commits)
    again.add(commit);
  expect(forkWords(again, 1).join('\n')).toContain('the agent forgets 1 message since then;');
});

test('an error that an earlier fork left behind is not named again, unless the fork goes on from there', () => {
  const again = new Timeline();
  for (const commit of tell('post m1', 'reply m1/1 1', 'post m2', 'fail m2/1 1', 'fork s2 2', 'post m3').commits)
    again.add(commit);
  expect(forkWords(again, 2).join('\n')).not.toContain('The error');
  expect(forkWords(again, 4).join('\n')).toContain('The error at this commit: ');
});

test('how much comes back that an earlier fork left behind', () => {
  const again = new Timeline();
  for (const commit of tell('post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'fork s2 1').commits) again.add(commit);
  expect(forkWords(again, 4)[0]).toContain('(no new session is made), and 3 messages left behind come back. Its memories stay');
  expect(forkWords(again, 2)[0]).toContain('(no new session is made), and 1 message left behind comes back. Its memories stay');
  expect(forkWords(again, 5)[0]).toContain('(no new session is made). Its memories stay');
});

test('what Natter itself wrote to the agent is no message that is forgotten: the chat counts none either', () => {
  const greeted = new Timeline();
  const sender = { id: 'natter', role: 'program' } as const;
  for (const commit of tell('post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1').commits)
    greeted.add({
      ...commit,
      events: commit.events.map((event) =>
        event.type === 'user_message' && event.message.messageId === 'm2'
          ? { ...event, message: { ...event.message, sender } }
          : event,
      ),
    });
  expect(forkWords(greeted, 2)[0]).toContain('the agent forgets 1 message since then; the log keeps it.');
});

test('how to take it back, unless nothing is left behind', () => {
  expect(told(2)).toContain('To take it back later, fork from commit 4, the newest now.');
  expect(told(4)).not.toContain('take it back');
});

test('a message that waited is forgotten if its answer began later, and one that waits now is dropped', () => {
  const waited = new Timeline();
  for (const commit of tell('post m1', 'post m2', 'reply m1/1 1', 'reply m2/1 1').commits) waited.add(commit);
  // Known then: m1. Known now: its answer, m2 and the answer of m2 as well.
  expect(forkWords(waited, 2)[0]).toContain('the agent forgets 3 messages since then; the log keeps them. Its memories stay');
  const waits = new Timeline();
  for (const commit of tell('post m1', 'reply m1/1 1', 'post m2', 'post m3').commits) waits.add(commit);
  expect(forkWords(waits, 2)[0]).toContain(
    'forgets 1 message since then; the log keeps it. The message that waits in the queue is dropped. Its memories stay',
  );
});

test('which model failed next, what to do about it, and which model the fork keeps', () => {
  const failing = new Timeline();
  for (const commit of tell('post m1', 'reply m1/1 1', 'set model gone/model', 'post m2', 'fail m2/1 1').commits)
    failing.add({
      ...commit,
      events: commit.events.map((event) => (event.type === 'turn_failed' ? { ...event, code: 'model_unknown' } : event)),
    });
  const words = forkWords(failing, 4).join('\n');
  expect(words).toContain('The error left behind: No answer from gone/model: ');
  expect(forkWords(failing, 5).join('\n')).toContain('The error at this commit: No answer from gone/model: ');
  expect(words).toContain('choose a model that it offers');
  expect(givenModel(failing)).toBe('gone/model');
  expect(givenModel(timeline)).toBeUndefined();
});

test.each([
  ['right before its message', ['post m1', 'reply m1/1 1', 'post m2', 'fail m2/1 1'], 4, 2],
  ['before its own message, which waited', ['post m1', 'post m2', 'reply m1/1 1', 'fail m2/1 1'], 4, 1],
  ['at the beginning: its message is the first', ['post m1', 'fail m1/1 1'], 2, 0],
  ['nowhere: it is no failed answer', ['post m1', 'reply m1/1 1', 'post m2', 'fail m2/1 1'], 3, null],
])('where a fork leaves the message behind whose answer failed: %s', (_, history, place, expected) => {
  const failing = new Timeline();
  for (const commit of tell(...history).commits) failing.add(commit);
  expect(placeBeforeFailed(failing, place)).toBe(expected);
});

test.each([
  ['at any other commit', 2, 'Fork from here'],
  ['right before the error', 3, 'Fork from here'],
  ['at the error', 4, 'Fork with the error'],
])('the button of the bar says whether its fork has the error: %s', (_, place, words) => {
  expect(forkHere(timeline, place)).toBe(words);
});

test('the button at the error names the commit that it goes back to', () => {
  expect(forkBefore(timeline, placeBeforeFailed(timeline, 4) ?? 0)).toBe('Fork from before the message (commit 2)');
});

const [keeps, leaves] = [
  '. A fork from here goes on in this session, without the failed answer; its message stays',
  '. A fork from here goes on in this session, without the failed answer and its message',
];

test.each([
  ['its answer had begun', ['post m1', 'fail m1/1 1'], 1, keeps],
  ['it waited, and its answer had begun', ['post m1', 'post m2', 'reply m1/1 1', 'fail m2/1 1'], 3, keeps],
  [
    'one message was said after it',
    ['post m1', 'fail m1/1 1', 'post m2'],
    1,
    '. A fork from here goes on in this session, without the failed answer and the message after it; its message stays',
  ],
  [
    'more was said after it',
    ['post m1', 'fail m1/1 1', 'post m2', 'reply m2/1 1'],
    1,
    '. A fork from here goes on in this session, without the failed answer and the 2 messages after it; its message stays',
  ],
])('what a fork right before the error of an answer does with its message: %s', (_, history, place, expected) => {
  const failing = new Timeline();
  for (const commit of tell(...history).commits) failing.add(commit);
  expect(leavesBehind(failing, place)).toBe(expected);
});

test('a message recorded with the error of its answer, or that waited until then, is left behind with it', () => {
  const event = (type: string, more: object): SessionEvent => ({ type, v: 1, ...more }) as unknown as SessionEvent;
  const message = event('user_message', { message: { text: 'hello' }, turnId: 't' });
  const failed = [event('turn_started', { turn: { id: 't' } }), event('turn_failed', { turn: { id: 't' } })];
  const of = (...commits: SessionEvent[][]) =>
    ({ commits: commits.map((events) => ({ events })), knownAt: () => [] }) as unknown as Timeline;
  expect(leavesBehind(of([event('notice', {})], [message, ...failed]), 1)).toBe(leaves);
  expect(leavesBehind(of([message], failed), 1)).toBe(leaves);
  // Its message is before what can be seen, or nobody wrote one.
  expect(leavesBehind(of([event('notice', {})], failed), 1)).toBe(
    '. A fork from here goes on in this session, without the failed answer',
  );
});
