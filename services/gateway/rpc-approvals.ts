import { z } from 'zod';
import { limits } from '../../shared/kit/limits.ts';
import { listApprovals, resolveApproval, verdicts } from './approvals.ts';
import type { Call } from './rpc.ts';

/** The methods `approvals.*` (A5/62). */

export const approvalsListParameters = z.strictObject({
  limit: z
    .int()
    .min(1)
    .transform((count) => Math.min(count, limits.pageRows))
    .default(50),
  cursor: z.string().min(1).max(2_048).optional(),
});

export const approvalsList = async ({ context, asker }: Call, parameters: z.infer<typeof approvalsListParameters>) =>
  listApprovals(context, asker, parameters);

/** What an answer is made of, whatever door it comes in by. */
export const answerFields = {
  verdict: z.enum(verdicts),
  /** The model is told it. */
  reason: z.string().min(1).max(2_000).optional(),
  sessionKey: z.string().min(1).max(1_024).optional(),
};
export const approvalsResolveParameters = z.strictObject({
  approvalId: z.string().min(1).max(limits.idCharacters),
  ...answerFields,
});

export const approvalsResolve = ({ context, asker }: Call, parameters: z.infer<typeof approvalsResolveParameters>) =>
  resolveApproval(context, asker, parameters);
