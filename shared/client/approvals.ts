import type { Http } from './http.ts';
import { listed, type ReadOptions, type WriteOptions, writing } from './sessions.ts';
import type { AnsweredApproval, PendingApproval, Verdict } from './types.ts';

export interface ResolveOptions extends Omit<WriteOptions, 'ifMatch'> {
  /** Why; the model is told it. */
  readonly reason?: string | undefined;
  /** The session that asks, where the list does not have it yet. */
  readonly sessionKey?: string | undefined;
}

/** `/v1/approvals`: what people are asked, and their answers. */
export const createApprovals = (http: Http) => ({
  /** What waits for a person, newest first. */
  list: (options: ReadOptions = {}): AsyncGenerator<PendingApproval> => listed(http, '/v1/approvals', 'approvals', {}, options),
  resolve: (
    approvalId: string,
    verdict: Verdict,
    { reason, sessionKey, ...options }: ResolveOptions = {},
  ): Promise<AnsweredApproval> => {
    const body = { verdict, ...(reason !== undefined && { reason }), ...(sessionKey !== undefined && { sessionKey }) };
    return http.call('POST', `/v1/approvals/${encodeURIComponent(approvalId)}`, body, writing(options));
  },
});
