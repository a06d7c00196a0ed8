import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listApprovals, resolveApproval } from '../approvals.ts';
import { idempotencyKeyOf } from '../commands.ts';
import type { GatewayContext } from '../context.ts';
import { bodyOf, limitParameter, noQuery, queryOf } from '../input.ts';
import { answerFields } from '../rpc-approvals.ts';

export const listQuery = z.object({ limit: limitParameter(50), cursor: z.string('give it once').optional() });
export const answerBody = z.strictObject(answerFields);

/** `GET /v1/approvals` and `POST /v1/approvals/{id}`: what people are asked, and their answers (A5/62). */
export const approvalRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  app.get('/v1/approvals', async (request, reply) => reply.send(listApprovals(context, request, queryOf(listQuery, request))));

  app.post('/v1/approvals/:id', { config: { changes: 'approvals' } }, async (request, reply) => {
    queryOf(noQuery, request);
    const { id: approvalId } = request.params as { id: string };
    const body = bodyOf(answerBody, request);
    const answered = await resolveApproval(context, request, { approvalId, ...body, idempotencyKey: idempotencyKeyOf(request) });
    return reply.code(answered.status === 'accepted' ? 202 : 200).send(answered);
  });
};
