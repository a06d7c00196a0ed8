import { expect, test } from 'vitest';
import { storyOf } from '../../../services/page/approvals/approval-story.ts';
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

test('the story of an approval is that of its own message, answer and call', () => {
  const events = [
    said(1, 'a', 'Ann'),
    said(2, 'b', 'Bob'),
    asks(3, 'a', 'p', 'c'),
    asks(4, 'b', 'q', 'd'),
    event(5, { type: 'approval_resolved', approvalId: 'q', verdict: 'denied', by: 'carol' }),
    event(6, { type: 'approval_resolved', approvalId: 'p', verdict: 'granted', by: 'ann' }),
    event(7, { type: 'tool_result', callId: 'd', outcome: 'denied', text: 'no' }),
    event(8, { type: 'tool_result', callId: 'c', outcome: 'ok', text: 'yes' }),
  ];
  expect(storyOf(events, 'p')).toEqual({
    message: { seq: 1, at: 1, ...{ sender: { id: 'x', name: 'Ann' }, actor: 'host:session-1' }, text: 'of Ann' },
    askedSeq: 3,
    host: 'session-1',
    said: [line(2, 'Bob')],
    calls: [],
    answer: { verdict: 'granted', by: 'ann', at: 6 },
    result: { outcome: 'ok', text: 'yes', at: 8 },
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
