import type { Http } from './http.ts';
import { operationAt } from './operation-at.ts';
import { listed, type ReadOptions, type WriteOptions, writing } from './sessions.ts';
import type { AnsweredApproval, PendingApproval, Verdict } from './types.ts';

export interface ResolveOptions extends Omit<WriteOptions, 'ifMatch'> {
  /** A reason, passed on to the model. */
  readonly reason?: string | undefined;
  /** The session that asks. Needed if the list does not contain the approval yet. */
  readonly sessionKey?: string | undefined;
}

/** `/v1/approvals`: tool calls awaiting approval, and their answers. */
export const createApprovals = (http: Http) => ({
  /** Pending approvals, newest first. */
  list: (options: ReadOptions = {}): AsyncGenerator<PendingApproval> => listed(http, 'listApprovals', 'approvals', {}, options),
  resolve: (
    approvalId: string,
    verdict: Verdict,
    { reason, sessionKey, ...options }: ResolveOptions = {},
  ): Promise<AnsweredApproval> => {
    const body = { verdict, ...(reason !== undefined && { reason }), ...(sessionKey !== undefined && { sessionKey }) };
    return http.call(...operationAt('answerApproval', { id: approvalId }), body, writing(options));
  },
});
