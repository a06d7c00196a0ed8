import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { limits } from '../../../shared/kit/limits.ts';
import { idempotencyKeyOf } from '../commands.ts';
import type { GatewayContext } from '../context.ts';
import { bodyOf, limitParameter, noQuery, queryOf } from '../input.ts';
import { addMemory, forgetMemory, listMemory, readMemory } from '../memory-calls.ts';

export const memoryQuery = z.object({
  scope: z.string('give it once').min(1).max(2_048).optional(),
  query: z.string('give it once').min(1).max(limits.memoryQueryCharacters).optional(),
  limit: limitParameter(50),
  cursor: z.string('give it once').optional(),
});
export const memoryBody = z.strictObject({
  text: z.string().trim().min(1, 'is empty; say what to remember').max(limits.memoryCharacters),
  scope: z.string().min(1).max(2_048),
});
export const forgetQuery = z.object({ reason: z.string('give it once').min(1).max(500).default('asked for') });

/** `/v1/memory`: what is remembered, why, and people's changes of it (A7/82). */
export const memoryRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const idOf = ({ params }: { params: unknown }): string => (params as { id: string }).id;

  app.get('/v1/memory', async (request, reply) => reply.send(await listMemory(context, request, queryOf(memoryQuery, request))));

  app.get('/v1/memory/:id', async (request, reply) => {
    queryOf(noQuery, request);
    return reply.send(await readMemory(context, request, idOf(request)));
  });

  app.post('/v1/memory', async (request, reply) => {
    queryOf(noQuery, request);
    const body = bodyOf(memoryBody, request);
    const added = await addMemory(context, request, { ...body, idempotencyKey: idempotencyKeyOf(request) });
    return reply.code(added.status === 'accepted' ? 202 : 201).send(added);
  });

  app.delete('/v1/memory/:id', async (request, reply) => {
    const { reason } = queryOf(forgetQuery, request);
    const wish = { id: idOf(request), reason, idempotencyKey: idempotencyKeyOf(request) };
    const forgotten = await forgetMemory(context, request, wish);
    return reply.code(forgotten.status === 'accepted' ? 202 : 200).send(forgotten);
  });
};
