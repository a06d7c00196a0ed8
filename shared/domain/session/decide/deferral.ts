import { limits } from '../../../kit/limits.ts';
import { decidedBy } from '../../values/person-words.ts';
import type { ApprovalRequest, Notice } from '../../values/types.ts';
import type { CallState, SessionContext } from '../context.ts';
import type { EventOf, SessionEvent } from '../events.ts';
import { type BusyView, refOf, sending } from './decision.ts';
import { deferredCallId, deferredTurnId } from './deferred-call.ts';
import { noticeEvent } from './generation.ts';
import { ended } from './tools.ts';

/** Questions that no turn waits for (ADR 22): how they are asked and closed. */

/** What a person is asked about a call. `notices` tell the owner of a deferred question. */
export interface CallQuestion {
  readonly request: Omit<ApprovalRequest, 'callId' | 'tool'>;
  readonly notices?: readonly Notice[] | undefined;
}

const later =
  'A person has to allow it and was asked. If it is allowed, it is done later, in a turn of its own. Say so, and go on without it.';
const taken = 'A person has to allow it, and is being asked about something else here. Say so; it can be tried again later.';

/** One question a person, so that nobody holds up others, and so many in all (I11). */
const hasRoom = ({ questions }: SessionContext, { principal }: NonNullable<ApprovalRequest['deferred']>): boolean =>
  questions.length < limits.openQuestions && questions.every(({ deferred }) => deferred?.principal !== principal);

/** Asks about the call, if there is room for the question, and ends it. */
export const deferring = (
  { context, turn }: BusyView,
  call: CallState,
  { request: { deferred, ...request }, notices = [] }: CallQuestion,
): SessionEvent[] => {
  const outcome = call.tries > 0 ? 'unknown' : 'denied';
  if (deferred === undefined || !hasRoom(context, deferred)) return ended(turn, call, outcome, taken);
  const { deliverTo } = turn;
  const asked: SessionEvent = {
    ...{ type: 'approval_requested', v: 1, turn: refOf(turn), ...request },
    ...{ callId: deferredCallId(request.approvalId), tool: call.tool },
    deferred: { ...deferred, ...(deliverTo && { deliverTo }) },
    ...sending(context, turn),
  };
  const told = notices.map((notice) => noticeEvent(context.settings, notice));
  return [asked, ...told, ...ended(turn, call, outcome, later)];
};

/** That a person did not allow something, and why. */
export const denial = (by: string, reason: string | undefined): string => `denied ${decidedBy(by)}${reason ? `: ${reason}` : ''}`;

export type Closing = Pick<EventOf<'approval_resolved'>, 'verdict' | 'by' | 'scope' | 'reason'>;

/** The question is answered, or its time is over. Whoever asked is told of a refusal: no turn of theirs is left to say it. */
export const closing = ({ settings }: SessionContext, request: ApprovalRequest, closed: Closing): SessionEvent[] => {
  const { approvalId, callId, action, deferred } = request;
  const turn = { id: deferredTurnId(approvalId), attempt: 1 };
  const resolved: SessionEvent = { type: 'approval_resolved', v: 1, turn, approvalId, ...(callId && { callId }), ...closed };
  if (closed.verdict === 'granted') return [resolved];
  const why = closed.verdict === 'expired' ? closed.reason : denial(closed.by, closed.reason);
  const deliverTo = deferred?.deliverTo && { deliverTo: deferred.deliverTo };
  return [resolved, noticeEvent(settings, { code: 'approval_refused', text: `Not allowed: ${action}\n(${why})`, ...deliverTo })];
};
