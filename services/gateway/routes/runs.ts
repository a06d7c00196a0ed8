import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from '../context.ts';
import { keyOf, queryOf, waitParameter } from '../input.ts';
import { olderRuns } from '../runs.ts';
import { waiting } from '../waiting.ts';

export const query = z.object({ wait: waitParameter });

/** `GET /v1/sessions/{key}/runs/{runId}`: what became of a run, from the log, on any replica. */
export const runRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const { runs, access } = context;
  app.get('/v1/sessions/:key/runs/:runId', async (request, reply) => {
    const key = keyOf(context.config, request);
    const { runId } = request.params as { runId: string };
    const waitMs = queryOf(query, request).wait * 1_000;
    const after = await access.enter(request.principal, key);
    const run =
      waitMs > 0
        ? await waiting(context, reply, (signal) => runs.await(key, runId, { after, waitMs, signal }))
        : await runs.status(key, runId, after);
    if (run === null) throw new NatterError('not_found', `session ${key} has no run ${runId}; ${olderRuns}`, { field: 'runId' });
    return reply.send(run);
  });
};
