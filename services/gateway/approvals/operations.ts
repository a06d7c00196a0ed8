import { z } from 'zod';
import { limits } from '../../../shared/kit/limits.ts';
import { limitNumber, limitParameter } from '../http/input.ts';
import { acting, type Call, method, type Operation, operation, readOnly, tool } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { verdicts } from '../operation/verdicts.ts';
import { type ApprovalAnswer, listApprovals, resolveApproval } from './approvals.ts';

/** Tool calls awaiting approval, and people's answers (A5/62). */

const listQuery = z.object({ limit: limitParameter(50), cursor: z.string('give it once').optional() });
const listParameters = z.strictObject({
  limit: limitNumber(50),
  cursor: z.string().min(1).max(2_048).optional(),
});

const answerFields = {
  verdict: z.enum(verdicts),
  reason: z.string().min(1).max(2_000).optional(),
  sessionKey: z.string().min(1).max(1_024).optional(),
};
export const answerBody = z.strictObject(answerFields);
const approvalId = z.string().min(1).max(limits.idCharacters);
const resolveParameters = z.strictObject({ approvalId, ...answerFields });
const respondParameters = z.strictObject({
  approvalId,
  decision: answerFields.verdict.describe('"allow-always": the same tool with the same arguments, until the session is reset.'),
  reason: answerFields.reason.describe('The agent is told it.'),
  sessionKey: answerFields.sessionKey.describe('The session that asks, where the list does not have it yet.'),
});

export const approvalOperations: readonly Operation[] = [
  operation(
    ({ context, caller }: Call, page: { limit: number; cursor?: string | undefined }) => listApprovals(context, caller, page),
    {
      ...{ id: 'listApprovals', tag: 'approvals', changes: 'nothing' },
      summary: 'Lists tool calls awaiting approval, newest first',
      http: route({
        ...{ method: 'get', path: '/v1/approvals', query: listQuery },
        answers: { 200: results.approvals },
        examples: {
          answer: {
            approvals: [
              {
                ...{
                  approvalId: samples.approvalId,
                  sessionKey: samples.key,
                  tool: 'exec',
                  action: 'run npm publish',
                  asks: 'run',
                },
                ...{ requestedAt: samples.at, expiresAt: samples.at + 3_600_000, approvers: [], onceOnly: false },
              },
            ],
            nextCursor: null,
          },
        },
        input: ({ query }) => query,
      }),
      rpc: method({ name: 'approvals.list', parameters: listParameters, input: (page) => page }),
      mcp: tool({
        ...{ name: 'approvals_list', parameters: listParameters, annotations: readOnly },
        input: (page) => page,
        description: 'Lists the calls of tools that wait for a person to allow them, newest first.',
      }),
    },
  ),
  operation(({ context, caller }: Call, answer: ApprovalAnswer) => resolveApproval(context, caller, answer), {
    ...{ id: 'answerApproval', tag: 'approvals', changes: 'approvals' },
    summary: 'Answers an approval',
    http: route({
      ...{ method: 'post', path: '/v1/approvals/:id', headers: ['Idempotency-Key'], body: answerBody },
      answers: { 200: results.answered, 202: results.answered },
      examples: {
        body: { verdict: 'allow-once' },
        answer: { approvalId: samples.approvalId, sessionKey: samples.key, verdict: 'allow-once', ...samples.takenSample },
      },
      problems: [
        ...(['forbidden', 'approval_forbidden', 'approval_unknown', 'approval_resolved', 'approval_expired'] as const),
        'quarantined',
        'damaged',
      ],
      input: ({ path: { id = '' }, body, idempotencyKey }) => ({ approvalId: id, ...body, idempotencyKey }),
    }),
    rpc: method({ name: 'approvals.resolve', parameters: resolveParameters, input: (answer) => answer }),
    mcp: tool({
      ...{ name: 'approvals_respond', parameters: respondParameters, annotations: { ...acting, destructiveHint: true } },
      description: 'Answers a call that waits. For a person who has decided: what is allowed is done.',
      input: ({ decision: verdict, ...answer }) => ({ ...answer, verdict }),
    }),
  }),
];
