import type { FastifyInstance } from 'fastify';
import type { GatewayContext } from '../context.ts';
import { noQuery, queryOf } from '../input.ts';

/** `/livez`, `/readyz` and `/metrics`: for whatever watches over the process. */
export const operationRoutes = (app: FastifyInstance, { problems, version, metrics }: GatewayContext): void => {
  app.get('/livez', async () => ({ status: 'alive', version }));

  app.get('/readyz', async (_, reply) => {
    const found = problems();
    if (found.length === 0) return { status: 'ready', problems: [] };
    return reply.code(503).header('retry-after', 1).send({ status: 'unavailable', problems: found });
  });

  app.get('/metrics', async (request, reply) => {
    queryOf(noQuery, request);
    return reply.type(metrics.contentType).send(await metrics.text());
  });
};
