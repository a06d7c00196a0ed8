import { limits } from '../../kit/limits.ts';
import { type ApprovalRequest, approvalRequest } from '../values/types.ts';
import { type ContextChange, type SessionContext, withTurn } from './context.ts';
import type { EventOf } from './events.ts';

/** How a session tracks approvals and their answers (A5/62). */

/** An approval that was answered or has expired. */
export interface ResolvedApproval {
  readonly approvalId: string;
  readonly verdict: EventOf<'approval_resolved'>['verdict'];
  readonly by: string;
}

/** The approval request in an event. */
export const requestOf = (event: EventOf<'approval_requested'>): ApprovalRequest => approvalRequest.parse(event);

/** The stored form of a permanent grant: the call's hash and, if given, whose calls it applies to. */
export const grantOf = ({ holder, hash }: { readonly holder?: string | undefined; readonly hash: string }): string =>
  holder === undefined ? hash : `${hash} ${holder}`;

export const answered = (context: SessionContext, event: EventOf<'approval_resolved'>): ContextChange => {
  const { approvalId, verdict, by, scope, turn } = event;
  const { hash, holder, deferred } = context.approval ?? {};
  const grant = hash === undefined ? undefined : grantOf({ holder, hash });
  return {
    approval: null,
    resolved: [...context.resolved, { approvalId, verdict, by }].slice(-limits.resolvedApprovals),
    ...(scope === 'always' &&
      grant !== undefined && { grants: [...context.grants.filter((known) => known !== grant), grant].slice(-limits.grants) }),
    ...(deferred === undefined && withTurn(context, { attempt: turn.attempt })),
  };
};
