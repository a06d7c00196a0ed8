import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../context.ts';
import { bodyOf, noQuery, queryOf } from '../input.ts';
import { prepare } from '../rpc.ts';
import { methods } from '../rpc-methods.ts';
import { waiting } from '../waiting.ts';

/** What every call by name has; each method has parameters of its own. */
export const body = z.strictObject({
  id: z.union([z.string().max(128), z.number()]).optional(),
  method: z.string().min(1).max(64),
  params: z.unknown().default({}),
});

/** `POST /v1/rpc`: `{id?, method, params?}` → `{id?, ok: true, result}`, or a problem (A12/130–131). */
export const rpcRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  // What a method changes is its own to say.
  app.post('/v1/rpc', { config: { changes: 'nothing' } }, async (request, reply) => {
    queryOf(noQuery, request);
    const { id, method, params } = bodyOf(body, request);
    const call = prepare(methods, method, params);
    const given = { context, asker: request };
    const result = call.waits
      ? await waiting(context, reply, (signal) => call.run({ ...given, signal }))
      : // Of a call that does not wait, nobody asks whether its caller is still there. A signal of its own: what derives from it goes with it.
        await call.run({ ...given, signal: new AbortController().signal });
    return reply.send({ ...(id !== undefined && { id }), ok: true, result });
  });
};
