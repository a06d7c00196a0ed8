import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { messageOf, NatterError } from '../../../shared/kit/errors.ts';
import type { Principal } from '../../../shared/policy/access.ts';
import type { SessionKey } from '../../../shared/routing/session-key.ts';
import type { GatewayContext } from '../context.ts';
import {
  afterCommit,
  type Cursor,
  type EventFilter,
  formatCursor,
  isAfter,
  logPosition,
  parseCursor,
  wantsKey,
  wantsType,
} from '../cursor.ts';
import { eventPage, reachedCursor } from '../event-page.ts';
import { noSuchSession } from '../history.ts';
import { afterParameter, flagParameter, keyOf, limitParameter, prefixParameter, queryOf, typesParameter } from '../input.ts';
import { visibleText } from '../live-text.ts';
import { SseStream, sseFrame } from '../sse.ts';

const allQuery = z.object({
  after: afterParameter.optional(),
  limit: limitParameter(100),
  type: typesParameter,
  key: prefixParameter,
});
const sessionQuery = allQuery.omit({ key: true }).extend({ deltas: flagParameter });

interface Wanted {
  readonly key?: SessionKey;
  readonly filter: EventFilter;
  readonly after: Cursor | undefined;
  readonly limit: number;
  readonly deltas: boolean;
}

const wantsStream = (request: FastifyRequest): boolean => /\btext\/event-stream\b/i.test(request.headers.accept ?? '');

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

/** Writes events until the client leaves, falls too far behind, or the gateway stops. */
const stream = async (context: GatewayContext, request: FastifyRequest, reply: FastifyReply, wanted: Wanted): Promise<void> => {
  const { feed, frames, ports, access, streams, log, closing } = context;
  const { principal, actor } = request;
  const { key, filter, deltas } = wanted;
  const seen = key ? await access.enter(principal, key) : 0;
  let cursor = await beginning(context, request, wanted.after);
  const closed = streams.take(actor);
  const headers = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  const client = new SseStream(reply.raw, { clock: ports.clock, headers, cursor: formatCursor(cursor), closing });
  if (key && deltas) void streamDeltas(context, client, key, principal);
  try {
    const after = Math.max(seen, logPosition(cursor));
    for await (const commit of feed.follow({ after, signal: client.signal, ...(key && { key }) })) {
      if (!wantsKey(filter, commit.key)) continue;
      if (!(await access.shows(principal, commit))) {
        if (key) throw noSuchSession();
        continue;
      }
      for (const { index, type, text } of frames.of(commit)) {
        if (!isAfter(cursor, commit.seq, index) || !wantsType(filter, type)) continue;
        const taken = await client.write(text);
        cursor = { seq: commit.seq, index };
        if (!taken) return client.end(tooSlow(cursor));
      }
    }
    client.end();
  } catch (error) {
    log.warn({ err: error, requestId: request.id }, 'event stream ended');
    const code = error instanceof NatterError ? error.code : 'internal';
    client.end(sseFrame('error', { code, detail: code === 'internal' ? '' : messageOf(error), after: formatCursor(cursor) }));
  } finally {
    closed();
  }
};

/** Text in the making, between the events and without an id: it cannot be resumed, the recorded message is the truth (§3). */
const streamDeltas = async (
  { ports, access, log }: GatewayContext,
  client: SseStream,
  key: SessionKey,
  principal: Principal,
): Promise<void> => {
  const visible = visibleText((turnId) => access.showsText(principal, key, turnId));
  try {
    for await (const delta of ports.live.subscribe(key, client.signal)) {
      const seen = visible(delta);
      if (seen !== null && !(await client.write(sseFrame('delta', { key, ...seen })))) return;
    }
  } catch (error) {
    log.warn({ err: error }, 'live text of a stream ended');
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
  const answer = async (request: FastifyRequest, reply: FastifyReply, wanted: Wanted): Promise<unknown> =>
    wantsStream(request) ? stream(context, request, reply, wanted) : page(context, request, wanted);

  app.get('/v1/events', (request, reply) => {
    const { after, limit, type, key } = queryOf(allQuery, request);
    return answer(request, reply, { filter: { types: type, keyPrefix: key }, after, limit, deltas: false });
  });

  app.get('/v1/sessions/:key/events', (request, reply) => {
    const key = keyOf(context.config, request);
    const { after, limit, type, deltas } = queryOf(sessionQuery, request);
    return answer(request, reply, { key, filter: { types: type }, after, limit, deltas });
  });
};
