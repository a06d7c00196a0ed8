import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from '../context.ts';
import { afterCommit, type Cursor, type EventFilter, formatCursor, parseCursor } from '../cursor.ts';
import { EventFrames } from '../event-frames.ts';
import { eventPage, reachedCursor } from '../event-page.ts';
import { followEvents, followText } from '../event-reader.ts';
import {
  afterParameter,
  flagParameter,
  keyOf,
  limitParameter,
  prefixParameter,
  queryOf,
  typesParameter,
  wantsStream,
} from '../input.ts';
import { SseStream, sseFrame } from '../sse.ts';

export const allQuery = z.object({
  after: afterParameter.optional(),
  limit: limitParameter(100),
  type: typesParameter,
  key: prefixParameter,
});
export const sessionQuery = allQuery.omit({ key: true }).extend({ deltas: flagParameter });

interface Wanted {
  readonly key?: SessionKey;
  readonly filter: EventFilter;
  readonly after: Cursor | undefined;
  readonly limit: number;
  readonly deltas: boolean;
}

/** Where a stream begins: `Last-Event-ID` (newer than the address it is sent to again), else `after`, else now. */
const beginning = async (context: GatewayContext, request: FastifyRequest, after: Cursor | undefined): Promise<Cursor> => {
  const now = context.feed.position;
  const lastEventId = request.headers['last-event-id'];
  const resumed = typeof lastEventId === 'string' ? parseCursor(lastEventId) : undefined;
  if (resumed === null) {
    throw new NatterError('invalid', 'last-event-id: use the id of an event, such as "17.2"', { field: 'last-event-id' });
  }
  return reachedCursor(context, resumed ?? after ?? afterCommit(now), resumed ? 'last-event-id' : 'after');
};

const tooSlow = (cursor: Cursor): string => {
  const detail = 'this client reads too slowly; connect again with "after" to go on from here';
  return sseFrame('error', { code: 'overloaded', detail, after: formatCursor(cursor) });
};

/** Says why a stream ends, and where it was. */
const lastFrame = (error: unknown, cursor: Cursor): string => {
  const code = error instanceof NatterError ? error.code : 'internal';
  return sseFrame('error', { code, detail: code === 'internal' ? '' : errorMessage(error), after: formatCursor(cursor) });
};

/** Writes events until the client leaves or falls too far behind, its token ends, or the gateway stops. */
const stream = async (
  context: GatewayContext,
  frames: EventFrames,
  request: FastifyRequest,
  reply: FastifyReply,
  wanted: Wanted,
): Promise<void> => {
  const { ports, access, streams, log, closing } = context;
  const { principal, actor } = request;
  const { key, filter, deltas } = wanted;
  const seen = key ? await access.enter(principal, key) : 0;
  let cursor = await beginning(context, request, wanted.after);
  const closed = streams.take(actor);
  const headers = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  const client = new SseStream(reply.raw, { clock: ports.clock, headers, cursor: formatCursor(cursor), closing });
  const { signal } = client;
  const ended = () => client.end(lastFrame(request.ended.reason, cursor));
  request.ended.addEventListener('abort', ended, { once: true, signal });
  const write = async (text: string): Promise<boolean> => {
    const taken = await client.write(text);
    if (!taken) client.end(tooSlow(cursor));
    return taken;
  };
  if (key && deltas) void followText(context, { principal, key, signal }, (text) => write(sseFrame('delta', text)));
  try {
    await followEvents(context, frames, { principal, key, filter, cursor, seen, signal }, (text, place) => {
      cursor = place;
      return write(text);
    });
    client.end();
  } catch (error) {
    log.warn({ err: error, requestId: request.id }, 'event stream ended');
    client.end(lastFrame(error, cursor));
  } finally {
    closed();
  }
};

const page = async (context: GatewayContext, { principal }: FastifyRequest, wanted: Wanted) => {
  const { key, after = { seq: 0, index: -1 } } = wanted;
  const seen = key ? (await context.access.read(principal, key)).after : 0;
  const { items, next, more } = await eventPage(context, principal, seen, { ...wanted, after });
  return { events: items, next, more };
};

/** `GET /v1/events` and `/v1/sessions/{key}/events`: a page as JSON, or a stream with `Accept: text/event-stream`. */
export const eventRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const frames = new EventFrames(sseFrame);
  const answer = async (request: FastifyRequest, reply: FastifyReply, wanted: Wanted): Promise<unknown> =>
    wantsStream(request) ? stream(context, frames, request, reply, wanted) : page(context, request, wanted);

  app.get('/v1/events', { config: { takesTicket: true } }, (request, reply) => {
    const { after, limit, type, key } = queryOf(allQuery, request);
    return answer(request, reply, { filter: { types: type, keyPrefix: key }, after, limit, deltas: false });
  });

  app.get('/v1/sessions/:key/events', { config: { takesTicket: true } }, (request, reply) => {
    const key = keyOf(context.config, request);
    const { after, limit, type, deltas } = queryOf(sessionQuery, request);
    return answer(request, reply, { key, filter: { types: type }, after, limit, deltas });
  });
};
