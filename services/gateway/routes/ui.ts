import type { FastifyInstance } from 'fastify';
import { chatKey } from '../chat-key.ts';
import type { GatewayContext } from '../context.ts';
import { noQuery, queryOf } from '../input.ts';
import { streamRun } from '../run-door.ts';
import { runIdFor, runningIn, tellAnswered, tellMessage } from '../run-stream.ts';
import { uiChunks } from '../ui/chunks.ts';
import { uiAsked } from '../ui/input.ts';

/** The UI message stream of the AI SDK 6: `POST /v1/ui/chat` and `GET /v1/ui/chat/{id}/stream`; see `docs/integrate/ui-streams.md`. */
export const uiRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  app.post('/v1/ui/chat', async (request, reply) => {
    queryOf(noQuery, request);
    const asked = uiAsked(request);
    const key = chatKey(context, request, asked.id, 'id');
    const messageId = 'answer' in asked ? asked.messageId : runIdFor(request, { key, ...asked.message });
    const place = { key, frames: uiChunks(key, messageId) };
    return streamRun(context, request, reply, place, (signal, take) =>
      'answer' in asked
        ? tellAnswered(context, request, { key, signal, ...asked.answer }, take)
        : tellMessage(context, request, { key, signal, ...asked.message }, take),
    );
  });

  app.get('/v1/ui/chat/:id/stream', { exposeHeadRoute: false }, async (request, reply) => {
    queryOf(noQuery, request);
    const key = chatKey(context, request, (request.params as { id: string }).id, 'id');
    const running = await runningIn(context, request, key);
    if (running === null) return reply.code(204).send();
    const place = { key, frames: uiChunks(key, running.runId) };
    return streamRun(context, request, reply, place, running.tell);
  });
};
