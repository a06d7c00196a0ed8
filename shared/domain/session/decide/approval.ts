import { limits } from '../../../kit/limits.ts';
import { decidedBy } from '../../values/person-words.ts';
import type { ApprovalRequest, Sender } from '../../values/types.ts';
import { openQuestions, questionCalled } from '../answered.ts';
import type { CallState } from '../context.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import {
  accept,
  type BusyView,
  type Decision,
  type Given,
  isCurrent,
  nothing,
  type RefusalCode,
  refuse,
  type SessionView,
} from './decision.ts';
import { closing, deferring, denial } from './deferral.ts';
import { approvedTurn, begunApprovedCall } from './deferred-call.ts';
import { noticeEvent } from './generation.ts';
import { waitingFor } from './tool-decisions.ts';
import { ended, isBegun, openCall, starting } from './tools.ts';

/**
 * A turn pauses for an approval (A5/62, I7). The answer resumes it as a new attempt, on whichever host owns the session by then.
 */

export const requestApproval = ({ data }: Given<'request_approval'>, view: SessionView): Decision => {
  const { turn: ref, type: _, notices, ...request } = data;
  if (view.status !== 'running' || !isCurrent(view, ref)) return nothing;
  const { context, turn } = view;
  const { callId, approvalId } = request;
  const call = callId === undefined ? undefined : openCall(turn, callId);
  // Waiting ends the attempt, so a call that it is running would be cut off.
  if (turn.calls.some((call) => isBegun(call, turn))) return nothing;
  if (callId !== undefined && call === undefined) return nothing;
  if (context.resolved.some((known) => known.approvalId === approvalId)) return nothing;
  return accept(...(request.deferred && call ? deferring(view, call, { request, notices }) : waitingFor(view, request)));
};

/** The first answer wins. Its effect is in the same commit: a granted call starts, any other ends. */
export const resolveApproval = (given: Given<'resolve_approval'>, view: SessionView): Decision => {
  const { data } = given;
  const { settings } = view.context;
  const refused = ({ code, message }: Problem): Decision =>
    data.notice ? accept(noticeEvent(settings, { ...data.notice, code, text: message })) : refuse(code, message);
  const open = questionCalled(view.context, data.approvalId);
  if (open === undefined) return refused(notOpen(data, view));
  const problem = problemOf(given, view, open);
  if (problem !== null) return refused(problem);
  const answers = answering(view, open, data);
  return accept(...answers, ...(data.notice ? [noticeEvent(settings, { ...data.notice, ...told(open, data) })] : []));
};

/** The deadline passed without an answer. */
export const expireApproval = ({ at, data: { approvalId } }: Given<'expire_approval'>, view: SessionView): Decision => {
  const open = questionCalled(view.context, approvalId);
  if (open === undefined || at <= open.expiresAt) return nothing;
  return accept(...answering(view, open, { verdict: 'expired', by: { id: 'natter' }, reason: 'nobody answered in time' }));
};

/** What is said about an answer. That it counts once although it was given for good has a code of its own: a client may know the rest already. */
const told = (open: ApprovalRequest, answer: Answer): { readonly text: string; readonly code?: string } => {
  const text = `${answer.verdict === 'granted' ? 'Approved' : 'Denied'}: ${open.action}`;
  const isCut = answer.scope === 'always' && scopeOf(open, answer).scope === 'once';
  const what = open.asks === 'retry' ? 'a repeat' : (open.tool ?? 'this');
  return isCut ? { code: 'approval_once', text: `${text} (allowed once: ${what} is asked each time)` } : { text };
};

/** The effect of an answer. A call that no turn waits for is made in a turn of its own, as soon as none runs (ADR 22). */
const answering = (view: SessionView, open: ApprovalRequest, answer: Answer): SessionEvent[] => {
  if (open.deferred === undefined) return resolving(view as BusyView, open, answer);
  const { verdict, reason } = answer;
  const by = nameOf(answer.by);
  const closed = closing(view.context, open, { verdict, by, ...scopeOf(open, answer), ...(reason !== undefined && { reason }) });
  if (verdict !== 'granted') return closed;
  const { turn, message } = approvedTurn(open, by);
  const said: SessionEvent = { type: 'user_message', v: 1, message, turnId: turn.id };
  if (view.turn !== null) {
    return [...closed, said, { type: 'turn_queued', v: 1, turn, position: view.context.queue.length + 1 }];
  }
  const opened: SessionEvent[] = view.status === 'inactive' ? [{ type: 'session_reopened', v: 1 }] : [];
  return [...closed, ...opened, said, { type: 'turn_started', v: 1, turn, attempt: 1 }, ...begunApprovedCall(turn)];
};

interface Answer {
  readonly verdict: EventOf<'approval_resolved'>['verdict'];
  readonly by: Sender;
  readonly scope?: 'once' | 'always' | undefined;
  readonly reason?: string | undefined;
}

const nameOf = ({ principal, id }: Sender): string => principal ?? id;

/**
 * The owner may always answer; others if the request names them. Self-chosen names do not count: principals come from the router.
 */
const mayAnswer = ({ approvers = [] }: ApprovalRequest, { role, principal }: Sender): boolean =>
  role === 'owner' || (principal !== undefined && approvers.includes(principal));

interface Problem {
  readonly code: RefusalCode;
  readonly message: string;
}

/** Open questions that an answer to none of them names. */
const shownOpen = 5;

/** Why there is no such open question: nobody ever asked it, or it has been answered or has expired. */
const notOpen = ({ approvalId }: Given<'resolve_approval'>['data'], { context }: SessionView): Problem => {
  const earlier = context.resolved.find((known) => known.approvalId === approvalId);
  if (earlier === undefined) {
    const open = openQuestions(context).map((question) => question.approvalId);
    const others = open.length > shownOpen ? ' and others' : '';
    const wait =
      open.length === 0 ? 'nothing waits for approval here' : `waiting: ${open.slice(0, shownOpen).join(', ')}${others}`;
    return { code: 'approval_unknown', message: `there is no approval "${approvalId}" in this session; ${wait}` };
  }
  return earlier.verdict === 'expired'
    ? { code: 'approval_expired', message: `approval ${approvalId} has expired; nobody answered in time` }
    : { code: 'approval_resolved', message: `approval ${approvalId} was ${earlier.verdict} ${decidedBy(earlier.by)} already` };
};

/** Why the answer to an open question is refused. */
const problemOf = (
  { at, data: { approvalId, by } }: Given<'resolve_approval'>,
  { context: { queue } }: SessionView,
  open: ApprovalRequest,
): Problem | null => {
  if (!mayAnswer(open, by)) {
    return { code: 'approval_forbidden', message: `approval ${approvalId} is not yours to answer; ask the owner` };
  }
  if (at > open.expiresAt) {
    return { code: 'approval_expired', message: `approval ${approvalId} has expired; nobody answered in time` };
  }
  if (open.deferred && queue.length >= limits.queuedTurns) {
    return { code: 'session_busy', message: 'too many messages are waiting in this session; answer again later' };
  }
  return null;
};

/** Approval of a repeat says nothing about other calls. */
const scopeOf = ({ hash, onceOnly, asks }: ApprovalRequest, { verdict, scope }: Answer): { scope?: 'once' | 'always' } => {
  const mayLast = hash !== undefined && !onceOnly && asks !== 'retry';
  return verdict === 'granted' ? { scope: scope === 'always' && mayLast ? 'always' : 'once' } : {};
};

const resolving = ({ turn }: BusyView, approval: ApprovalRequest, answer: Answer): SessionEvent[] => {
  const { verdict, by, reason } = answer;
  const { approvalId, callId, spawn } = approval;
  const call = callId === undefined ? undefined : openCall(turn, callId);
  const next = { id: turn.id, attempt: turn.attempt + 1 };
  const resolved: SessionEvent = {
    type: 'approval_resolved',
    v: 1,
    turn: next,
    approvalId,
    verdict,
    by: nameOf(by),
    ...scopeOf(approval, answer),
    ...(callId !== undefined && { callId }),
    ...(reason !== undefined && { reason }),
  };
  if (call === undefined) return [resolved];
  if (verdict === 'granted') return [resolved, starting(next, call, { approvalId, spawn })];
  return [resolved, ...ended(next, call, ...refusalOf(call, verdict, nameOf(by), reason))];
};

/** What the model is told about a call that was not allowed. */
const refusalOf = (
  { tries }: CallState,
  verdict: 'denied' | 'expired',
  by: string,
  reason: string | undefined,
): ['denied' | 'expired' | 'unknown', string] => {
  if (tries > 0) {
    const why = verdict === 'expired' ? 'nobody answered in time' : denial(by, reason);
    return ['unknown', `The call was begun and cut off; whether it took effect is not known. It was not repeated: ${why}.`];
  }
  return [
    verdict,
    verdict === 'expired' ? 'The call was not allowed: nobody answered in time.' : `The call was ${denial(by, reason)}.`,
  ];
};
