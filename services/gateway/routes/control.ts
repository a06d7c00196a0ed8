import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Occasion } from '../../../shared/domain/routing/occasion.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import { ask } from '../asking.ts';
import { commandIdOf, occasionFor } from '../commands.ts';
import { compact, compactBody } from '../compacting.ts';
import type { GatewayContext } from '../context.ts';
import { type Condition, conditionOf } from '../etag.ts';
import { fork, forkPlace } from '../forking.ts';
import { bodyOf, keyOf, noQuery, queryOf, waitParameter } from '../input.ts';
import { checkpoint } from '../looking-back.ts';
import { patchParameters, patchSession } from '../rpc-sessions.ts';
import { speakerOf } from '../speaker.ts';
import { waiting } from '../waiting.ts';

export const reasonBody = z.strictObject({ reason: z.string().min(1).max(200).default('api') });
export const emptyBody = z.strictObject({});

export const patchBody = patchParameters.omit({ key: true });

export const deletion = z.object({ mode: z.enum(['session', 'key']).default('session') });

/** What each of these commands is made of. `occasion`: how the session begins, should it. */
const commandsByName = {
  stop: (request: FastifyRequest): SessionCommand => ({ type: 'stop', reason: bodyOf(reasonBody, request).reason }),
  reset: (request: FastifyRequest, occasion: Occasion): SessionCommand => ({
    type: 'reset',
    ...occasion,
    cause: { trigger: 'api', rule: bodyOf(reasonBody, request).reason },
  }),
  open: (request: FastifyRequest, occasion: Occasion, { access }: GatewayContext): SessionCommand => {
    bodyOf(emptyBody, request);
    const by = speakerOf(request.principal, undefined, access.identities);
    return { type: 'open_session', ...occasion, ...(by.role === 'participant' && { by }) };
  },
} as const;

export const waitQuery = z.object({ wait: waitParameter });

/**
 * `POST /v1/sessions/{key}/stop|reset|open`, `PATCH` and `DELETE /v1/sessions/{key}`: answered by the session itself (A11/125, A4/53, A5/64,
 * A8/87–88), `POST …/checkpoint` and `…/fork` too (A7/80, B21). `POST …/compact` begins a run, as a message does (A11/126).
 */
export const controlRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const { ports, access } = context;

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    key: SessionKey,
    data: SessionCommand,
    condition: Condition,
  ) => {
    const runId = commandIdOf(request, key, data.type);
    const asked = await ask(context, request, key, data, { runId, ...(await condition()) });
    return reply.code(asked.status === 'accepted' ? 202 : 200).send(asked);
  };

  for (const [name, commandFrom] of Object.entries(commandsByName)) {
    app.post(`/v1/sessions/:key/${name}`, async (request, reply) => {
      const key = keyOf(context.config, request);
      queryOf(noQuery, request);
      const data = commandFrom(request, occasionFor(context.config, key, ports.clock.now()), context);
      const condition = conditionOf(context, request, key);
      await access.enter(request.principal, key);
      return answer(request, reply, key, data, condition);
    });
  }

  app.post('/v1/sessions/:key/compact', async (request, reply) => {
    const key = keyOf(context.config, request);
    const waitMs = queryOf(waitQuery, request).wait * 1_000;
    const condition = conditionOf(context, request, key);
    const wanted = { key, runId: commandIdOf(request, key, 'compact'), ...bodyOf(compactBody, request), condition, waitMs };
    if (waitMs > 0) {
      const { run } = await waiting(context, reply, (signal) => compact(context, request, { ...wanted, signal }));
      return reply.send(run);
    }
    const { run, duplicate } = await compact(context, request, { ...wanted, signal: context.closing });
    return reply.code(202).send({ ...run, duplicate });
  });

  app.post('/v1/sessions/:key/checkpoint', async (request, reply) => {
    const key = keyOf(context.config, request);
    queryOf(noQuery, request);
    bodyOf(emptyBody, request);
    const condition = conditionOf(context, request, key);
    const runId = commandIdOf(request, key, 'request_checkpoint');
    return reply.code(202).send(await checkpoint(context, request, { key, runId, condition }));
  });

  app.post('/v1/sessions/:key/fork', async (request, reply) => {
    const key = keyOf(context.config, request);
    queryOf(noQuery, request);
    const place = bodyOf(forkPlace, request);
    const condition = conditionOf(context, request, key);
    const runId = commandIdOf(request, key, 'fork');
    const forked = await fork(context, request, { key, place, runId, condition });
    return reply.code(forked.status === 'accepted' ? 202 : 200).send(forked);
  });

  app.patch('/v1/sessions/:key', async (request, reply) => {
    const key = keyOf(context.config, request);
    queryOf(noQuery, request);
    const changes = bodyOf(patchBody, request);
    const condition = conditionOf(context, request, key);
    const runId = commandIdOf(request, key, 'patch_session');
    const patched = await patchSession({ context, asker: request }, { key, ...changes }, { whole: 'body', runId, condition });
    return reply.code(patched.status === 'accepted' ? 202 : 200).send(patched);
  });

  app.delete('/v1/sessions/:key', async (request, reply) => {
    const key = keyOf(context.config, request);
    const { mode } = queryOf(deletion, request);
    bodyOf(emptyBody, request);
    const condition = conditionOf(context, request, key);
    await access.permitDeletion(request.principal, key, mode);
    return answer(request, reply, key, { type: 'delete_session', mode, reason: 'api' }, condition);
  });
};
