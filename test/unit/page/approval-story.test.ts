import { expect, test } from 'vitest';
import { questionsIn } from '../../../services/page/approvals/answered.ts';
import { storyOf } from '../../../services/page/approvals/approval-story.ts';
import { endingOf } from '../../../services/page/approvals/ending.ts';
import type { NatterEvent } from '../../../shared/client/main.ts';

const event = (seq: number, fields: object): NatterEvent =>
  ({ ...{ id: `${seq}.0`, seq, index: 0, at: seq, actor: 'host:session-1', v: 1 }, ...fields }) as NatterEvent;
const said = (seq: number, turnId: string, name: string): NatterEvent =>
  event(seq, { type: 'user_message', turnId, message: { messageId: turnId, text: `of ${name}`, sender: { id: 'x', name } } });
const asks = (seq: number, turnId: string, approvalId: string, callId: string): NatterEvent =>
  event(seq, { type: 'approval_requested', turn: { id: turnId, attempt: 1 }, approvalId, callId, action: 'run', expiresAt: 99 });
const line = (seq: number, name: string) => ({
  ...{ seq, role: 'user', text: `of ${name}`, sender: { id: 'x', name }, actor: 'host:session-1' },
});

test('the story of an approval is that of its own message', () => {
  const events = [
    said(1, 'a', 'Ann'),
    said(2, 'b', 'Bob'),
    asks(3, 'a', 'p', 'c'),
    asks(4, 'b', 'q', 'd'),
    event(5, { type: 'approval_resolved', approvalId: 'q', verdict: 'denied', by: 'carol' }),
  ];
  expect(storyOf(events, 'p')).toEqual({
    message: { seq: 1, at: 1, ...{ sender: { id: 'x', name: 'Ann' }, actor: 'host:session-1' }, text: 'of Ann' },
    askedSeq: 3,
    host: 'session-1',
    said: [line(2, 'Bob')],
    calls: [],
  });
  expect(storyOf(events.slice(0, 4), 'q')).toEqual({
    message: { seq: 2, at: 2, sender: { id: 'x', name: 'Bob' }, actor: 'host:session-1', text: 'of Bob' },
    askedSeq: 4,
    host: 'session-1',
    said: [line(1, 'Ann')],
    calls: [],
  });
});

test('a question is told with what was before it: when its answer began, its calls, and what was said since a reset', () => {
  const turn = { id: 'b', attempt: 1 };
  const before = [
    said(1, 'a', 'Ann'),
    event(2, { type: 'session_reset', rule: 'new' }),
    said(3, 'c', 'Carl'),
    event(4, { type: 'tool_result', turn: { id: 'c', attempt: 1 }, callId: 'x', tool: 'exec', outcome: 'ok', text: '' }),
    event(5, { type: 'assistant_message', turn: { id: 'c', attempt: 1 }, text: 'yes' }),
    event(6, { type: 'assistant_message', turn: { id: 'c', attempt: 1 }, text: 'left behind' }),
    event(7, { type: 'session_reset', rule: 'fork', forkedFrom: { seq: 5 } }),
    said(8, 'b', 'Bob'),
    event(9, { type: 'turn_started', turn }),
    event(10, { type: 'tool_result', turn, callId: 'y', tool: 'list_files', outcome: 'ok', text: '' }),
  ];
  expect(storyOf([...before, asks(11, 'b', 'q', 'd'), said(12, 'e', 'Eve')], 'q')).toMatchObject({
    said: [line(3, 'Carl'), { seq: 5, role: 'assistant', text: 'yes' }],
    startedAt: 9,
    calls: [{ tool: 'list_files', outcome: 'ok' }],
  });
});

const turn = { id: 'a', attempt: 2 };
const resolves = (seq: number, fields: object): NatterEvent =>
  event(seq, { type: 'approval_resolved', turn, approvalId: 'p', callId: 'c', by: 'ann', ...fields });
const started = event(6, { type: 'tool_call_started', turn, callId: 'c', approvalId: 'p' });
const granted = [asks(3, 'a', 'p', 'c'), resolves(6, { verdict: 'granted' }), started];
const answer = { verdict: 'granted', by: 'ann', seq: 6, at: 6 };
const deferred = { ...asks(3, 'b', 'p', 'c'), deferred: { arguments: '{}' } } as NatterEvent;

test.each<[string, readonly NatterEvent[], object]>([
  ['waits', [asks(3, 'a', 'p', 'c')], { isOver: false }],
  [
    'waits while another turn ends',
    [asks(3, 'a', 'p', 'c'), event(4, { type: 'turn_aborted', turn: { id: 'b' } })],
    { isOver: false },
  ],
  [
    'nobody can answer after its turn was stopped',
    [asks(3, 'a', 'p', 'c'), event(4, { type: 'turn_aborted', turn })],
    { unanswered: { by: 'stopped', seq: 4, at: 4 }, isOver: true },
  ],
  [
    'nobody can answer after a reset, which stopped its turn with the same commit',
    [asks(3, 'a', 'p', 'c'), event(4, { type: 'turn_aborted', turn }), event(4, { type: 'session_reset' })],
    { unanswered: { by: 'reset', seq: 4, at: 4 }, isOver: true },
  ],
  ['that no turn waits for waits on', [deferred, event(4, { type: 'turn_completed', turn: { id: 'b' } })], { isOver: false }],
  [
    'that no turn waits for ends with a fork',
    [deferred, event(4, { type: 'session_reset', forkedFrom: { seq: 1 } })],
    { unanswered: { by: 'forked', seq: 4, at: 4 }, isOver: true },
  ],
  [
    'expires',
    [asks(3, 'a', 'p', 'c'), resolves(6, { verdict: 'expired' })],
    { answer: { ...answer, verdict: 'expired' }, isOver: true },
  ],
  [
    'is allowed, and which call it was is not recorded',
    [resolves(6, { verdict: 'granted', callId: undefined })],
    { answer, isOver: true },
  ],
  ['is allowed, and its call runs', granted, { answer, begunAt: 6, isOver: false }],
  [
    'is allowed, and its call fails',
    [...granted, event(8, { type: 'tool_result', turn, callId: 'c', outcome: 'error', text: 'no' })],
    { answer, begunAt: 6, result: { outcome: 'error', text: 'no', at: 8 }, isOver: true },
  ],
  [
    'is allowed, and its call is cut short',
    [...granted, event(8, { type: 'session_deleted' })],
    { answer, begunAt: 6, cut: { by: 'deleted', at: 8 }, isOver: true },
  ],
  [
    'is allowed, and a reset comes before its call',
    [deferred, resolves(6, { verdict: 'granted', turn: { id: 'approval-p', attempt: 1 } }), event(8, { type: 'session_reset' })],
    { answer, cut: { by: 'reset', at: 8 }, isOver: true },
  ],
])('a question %s', (_, events, expected) => {
  expect(endingOf(events, 'p')).toEqual(expected);
});

test('questions are listed by the last that was recorded of each, also those without an answer', () => {
  const events = [...granted.slice(0, 1), asks(4, 'b', 'q', 'd'), ...granted.slice(1, 2)].toReversed();
  expect(questionsIn(events)).toMatchObject([
    { approvalId: 'p', askedSeq: 3, action: 'run', answer: { verdict: 'granted' } },
    { approvalId: 'q', askedSeq: 4, action: 'run' },
  ]);
});
