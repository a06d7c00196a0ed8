import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { roles } from '../../../shared/domain/values/role.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { adminsOnly } from '../access.ts';
import type { GatewayContext } from '../context.ts';
import { bodyOf, noQuery, queryOf } from '../input.ts';
import { TokenOffice } from '../tokens.ts';

export const tokenBody = z.strictObject({
  role: z.enum(roles),
  principal: z.string().min(1).max(256).optional(),
  namespace: z.string().min(1).max(256).optional(),
  label: z.string().max(120).default(''),
  /** Milliseconds since 1970, or ISO 8601. Default: never. */
  expiresAt: z.union([z.int().min(1), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))]).optional(),
});
export const rotationBody = z.strictObject({ overlapMinutes: z.int().min(0).max(limits.rotationOverlapMinutes).default(0) });

/** `/v1/tokens`: tokens made while the system runs. The administrator's alone, whatever there is. */
export const tokenRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const office = new TokenOffice(context);
  app.addHook('preHandler', async ({ principal, routeOptions }) => {
    if (routeOptions.url?.startsWith('/v1/tokens')) adminsOnly(principal, 'managing tokens');
  });

  app.get('/v1/tokens', async (request, reply) => {
    queryOf(noQuery, request);
    return reply.send({ tokens: office.list() });
  });

  app.post('/v1/tokens', async (request, reply) => {
    queryOf(noQuery, request);
    return reply.code(201).send(await office.create(request, bodyOf(tokenBody, request)));
  });

  app.delete('/v1/tokens/:id', async (request, reply) => {
    queryOf(noQuery, request);
    return reply.send(await office.revoke(request, (request.params as { id: string }).id));
  });

  app.post('/v1/tokens/:id/rotate', async (request, reply) => {
    queryOf(noQuery, request);
    const { overlapMinutes } = bodyOf(rotationBody, request);
    return reply.send(await office.rotate(request, (request.params as { id: string }).id, overlapMinutes * 60_000));
  });
};
