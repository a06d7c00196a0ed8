import { expect, test } from 'vitest';
import { storyOf } from '../../../services/page/approvals/approval-story.ts';
import type { NatterEvent } from '../../../shared/client/main.ts';

const event = (seq: number, fields: object): NatterEvent =>
  ({ ...{ id: `${seq}.0`, seq, index: 0, at: seq, actor: 'host:session-1', v: 1 }, ...fields }) as NatterEvent;
const said = (seq: number, turnId: string, name: string): NatterEvent =>
  event(seq, { type: 'user_message', turnId, message: { messageId: turnId, text: `of ${name}`, sender: { id: 'x', name } } });
const asks = (seq: number, turnId: string, approvalId: string, callId: string): NatterEvent =>
  event(seq, { type: 'approval_requested', turn: { id: turnId, attempt: 1 }, approvalId, callId, action: 'run', expiresAt: 99 });

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
    answer: { verdict: 'granted', by: 'ann', at: 6 },
    result: { outcome: 'ok', text: 'yes', at: 8 },
  });
  expect(storyOf(events.slice(0, 4), 'q')).toEqual({
    message: { seq: 2, at: 2, sender: { id: 'x', name: 'Bob' }, actor: 'host:session-1', text: 'of Bob' },
    askedSeq: 4,
    host: 'session-1',
  });
});
