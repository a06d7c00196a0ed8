import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../context.ts';
import { bodyOf, noQuery, queryOf } from '../input.ts';

export const ticketBody = z.strictObject({
  path: z
    .string()
    .max(4_096)
    .regex(/^\/v1\/[\x21-\x7e]+$/, 'use the path of an event stream, percent-encoded, such as "/v1/events"')
    .refine((path) => !/[?#]/.test(path), 'leave the query out; a ticket is for any query at its path'),
});

/** `POST /v1/tickets`: a one-time ticket for a browser's `EventSource`, which cannot send a token. */
export const ticketRoutes = (app: FastifyInstance, { tickets }: GatewayContext): void => {
  app.post('/v1/tickets', { config: { changes: 'nothing' } }, async (request, reply) => {
    queryOf(noQuery, request);
    const { path } = bodyOf(ticketBody, request);
    return reply.code(201).send(await tickets.issue(request, path));
  });
};
