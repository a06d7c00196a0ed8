import { accept, type Decision, type Given, isCurrent, nothing, refOf, refuse, type SessionView } from './decision.ts';

/** A turn that waits for a person (A5/62, I7). The answer resumes it as a new attempt, whichever host owns the session by then. */

export const requestApproval = ({ data }: Given<'request_approval'>, view: SessionView): Decision => {
  if (view.status !== 'running' || !isCurrent(view, data.turn)) return nothing;
  const { approvalId, action, expiresAt } = data;
  return accept({ type: 'approval_requested', v: 1, turn: refOf(view.turn), approvalId, action, expiresAt });
};

/** The first answer wins. One that comes after the deadline is recorded as `expired`, and grants nothing. */
export const resolveApproval = ({ at, data }: Given<'resolve_approval'>, view: SessionView): Decision => {
  const pending = view.context.approval;
  if (view.status !== 'awaiting_approval' || pending === null || pending.approvalId !== data.approvalId) {
    return refuse('approval_not_pending', `approval ${data.approvalId} is not pending in this session; list the pending ones`);
  }
  return accept({
    type: 'approval_resolved',
    v: 1,
    turn: { id: view.turn.id, attempt: view.turn.attempt + 1 },
    approvalId: data.approvalId,
    verdict: at > pending.expiresAt ? 'expired' : data.verdict,
    by: data.by,
    ...(data.reason !== undefined && { reason: data.reason }),
  });
};
