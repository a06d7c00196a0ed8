import { expect, test } from 'vitest';
import { noChat, takeEvent } from '../../../../services/page/chat/chat-model.ts';
import type { NatterEvent } from '../../../../shared/client/main.ts';

/** Calls and questions that get no result and no answer any more, because what began them has ended. */

const turn = { id: 't', attempt: 1 };
const told = (...events: readonly object[]) =>
  events
    .map(
      (fields, at) =>
        ({
          id: `${at + 1}.0`,
          seq: at + 1,
          index: 0,
          rev: at + 1,
          key: 'k',
          sessionId: 's',
          at: at + 1,
          actor: 'a',
          ...fields,
        }) as NatterEvent,
    )
    .reduce(takeEvent, noChat);
const calls = [
  { callId: 'c', tool: 'exec', arguments: '{}' },
  { callId: 'd', tool: 'exec', arguments: '{}' },
];
const step = { type: 'model_step', turn, step: 1, finish: 'continue', text: '', calls };
const started = { type: 'tool_call_started', turn, callId: 'c', tool: 'exec' };
const asked = { type: 'approval_requested', turn, approvalId: 'p', callId: 'd', action: 'run', expiresAt: 9 };
const askedElsewhere = { ...asked, approvalId: 'q', deferred: { arguments: '{}' } };
const reset = { type: 'session_reset', previousSessionId: 's', generation: 2, cause: { trigger: 'command', rule: '/new' } };

test.each([
  ['nothing: all is open', {}, ['running', 'waiting', undefined, undefined]],
  [
    'a stop: what no turn waits for can be answered still',
    { type: 'turn_aborted', turn, reason: 'api' },
    ['stopped', 'stopped', 'stopped', undefined],
  ],
  ['a failure', { type: 'turn_failed', turn, code: 'x', message: 'y' }, ['stopped', 'stopped', 'failed', undefined]],
  ['a reset', reset, ['stopped', 'stopped', 'reset', 'reset']],
  ['a fork', { ...reset, forkedFrom: { seq: 1, rev: 1, contextSeq: 1, skips: [] } }, ['stopped', 'stopped', 'forked', 'forked']],
  ['a deletion', { type: 'session_deleted', mode: 'session', reason: 'api' }, ['stopped', 'stopped', 'deleted', 'deleted']],
])('after %s', (_, last, expected) => {
  const { items } = told(step, started, asked, askedElsewhere, last);
  const states = [
    ...items.flatMap((item) => (item.kind === 'tool' ? [item.status] : [])),
    ...items.flatMap((item) => (item.kind === 'approval' ? [item.unanswered?.by] : [])),
  ];
  expect(states).toEqual(expected);
});

test('what had a result or an answer keeps it', () => {
  const { items } = told(
    step,
    started,
    { type: 'tool_result', turn, callId: 'c', tool: 'exec', outcome: 'ok', text: 'done' },
    asked,
    { type: 'approval_resolved', turn, approvalId: 'p', callId: 'd', verdict: 'denied', by: 'person:ann' },
    { type: 'turn_aborted', turn, reason: 'api' },
  );
  expect(items).toContainEqual(expect.objectContaining({ kind: 'tool', id: 'c', status: 'ok' }));
  const [question] = items.filter(({ kind }) => kind === 'approval');
  expect(question).toMatchObject({ answer: { verdict: 'denied' } });
  expect(question).not.toHaveProperty('unanswered');
});

test('a reset that stops the answer with its own commit is what has ended the question', () => {
  const stop = { type: 'turn_aborted', turn, reason: 'asked for on the page', seq: 4, index: 0 };
  const { items } = told(step, started, asked, stop, { ...reset, seq: 4, index: 1 });
  expect(items.find(({ kind }) => kind === 'approval')).toMatchObject({ unanswered: { by: 'reset', seq: 4 } });
});

test('after a fork from a moment before it, an answer was not given, and its call has not run', () => {
  const answered = { type: 'approval_resolved', turn, approvalId: 'p', callId: 'd', verdict: 'denied', by: 'person:ann' };
  const result = { type: 'tool_result', turn, callId: 'd', tool: 'exec', outcome: 'denied', text: 'no' };
  const fork = (seq: number) => ({ ...reset, forkedFrom: { seq, rev: seq, contextSeq: 1, skips: [] } });
  const states = (...last: readonly object[]) =>
    told(step, asked, answered, result, ...last).items.flatMap((item): unknown[] => {
      if (item.kind === 'tool' && item.id === 'd') return [item.status, item.isUndone];
      return item.kind === 'approval' ? [item.answer?.verdict, item.unanswered?.by] : [];
    });
  expect(states(fork(2))).toEqual(['denied', 'forked', 'denied', true]);
  expect(states(fork(4))).toEqual(['denied', undefined, 'denied', false]);
  // Whoever takes the fork back has the answer again.
  const back = { ...reset, forkedFrom: { seq: 4, rev: 4, contextSeq: 1, skips: [] } };
  expect(states(fork(2), back)).toEqual(['denied', undefined, 'denied', false]);
});
