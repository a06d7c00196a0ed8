import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { auditKinds } from '../../../shared/domain/access/audit.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from '../context.ts';
import { limitParameter, queryOf, sequenceParameter } from '../input.ts';

export const auditQuery = z.object({
  after: sequenceParameter.optional(),
  limit: limitParameter(100),
  kind: z.enum(auditKinds).optional(),
});

/** `GET /v1/audit`: who did, or tried, what concerns security. The owner's; to all others there is nothing here. */
export const auditRoutes = (app: FastifyInstance, { ports }: GatewayContext): void => {
  app.get('/v1/audit', async (request, reply) => {
    if (request.principal.role !== 'owner') throw new NatterError('not_found', 'there is nothing at GET /v1/audit');
    const { after, limit, kind } = queryOf(auditQuery, request);
    const range = { limit, ...(after !== undefined && { after }), ...(kind !== undefined && { kind }) };
    const { records, more } = await ports.audit.page(range);
    return reply.send({ records, next: String(records.at(-1)?.seq ?? after ?? 0), more });
  });
};
