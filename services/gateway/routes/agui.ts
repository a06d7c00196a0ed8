import type { FastifyInstance } from 'fastify';
import { aguiEvents } from '../agui/events.ts';
import { aguiAsked } from '../agui/input.ts';
import { chatKey } from '../chat-key.ts';
import type { GatewayContext } from '../context.ts';
import { noQuery, queryOf } from '../input.ts';
import { streamRun } from '../run-door.ts';
import { tellAnswered, tellMessage } from '../run-stream.ts';

/** AG-UI 1.0: `POST /v1/agui`; see `docs/integrate/ui-streams.md`. */
export const aguiRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  app.post('/v1/agui', async (request, reply) => {
    queryOf(noQuery, request);
    const asked = aguiAsked(request);
    const { threadId, runId, background } = asked;
    const key = chatKey(context, request, threadId, 'threadId');
    const place = { key, frames: aguiEvents({ threadId, runId, sessionKey: key }) };
    return streamRun(context, request, reply, place, async (signal, take) => {
      if ('answer' in asked) return tellAnswered(context, request, { key, signal, ...asked.answer }, take);
      return tellMessage(context, request, { key, signal, ...asked.message, background }, take);
    });
  });
};
