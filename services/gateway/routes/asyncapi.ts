import type { FastifyInstance } from 'fastify';
import { asyncApiDocument } from '../asyncapi/document.ts';
import type { GatewayContext } from '../context.ts';
import { noQuery, queryOf } from '../input.ts';

/** `GET /v1/asyncapi.json`: the description of what is on the broker, under this system's prefix. Made once, when it is first asked for. */
export const asyncApiRoutes = (app: FastifyInstance, { version, config }: GatewayContext): void => {
  const { prefix } = config;
  let text: string | undefined;
  app.get('/v1/asyncapi.json', async (request, reply) => {
    queryOf(noQuery, request);
    text ??= JSON.stringify(asyncApiDocument(version, prefix));
    return reply.type('application/json').send(text);
  });
};
