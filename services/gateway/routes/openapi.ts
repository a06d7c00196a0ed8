import type { FastifyInstance } from 'fastify';
import type { GatewayContext } from '../context.ts';
import { noQuery, queryOf } from '../input.ts';
import { openApiDocument } from '../openapi/document.ts';

/** `GET /v1/openapi.json`: the description of this API. Made once, when it is first asked for. */
export const openApiRoutes = (app: FastifyInstance, { version }: GatewayContext): void => {
  let text: string | undefined;
  app.get('/v1/openapi.json', async (request, reply) => {
    queryOf(noQuery, request);
    text ??= JSON.stringify(openApiDocument(version));
    return reply.type('application/json').send(text);
  });
};
