import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { afterCommit, type Cursor, formatCursor, parseCursor } from '../http/cursor.ts';
import { plainFrame, SseStream, sseFrame } from '../http/sse.ts';
import type { Call } from '../operation/operation.ts';
import { reachedCursor, type WantedEvents } from './event-page.ts';
import { followEvents, followText } from './event-reader.ts';

/** The events that a caller requests: of one session, or of all visible ones. A stream has no `before`. */
export interface EventRequest extends WantedEvents {
  /** Live text too. */
  readonly deltas: boolean;
  /** A stream of plain messages. */
  readonly event?: 'message' | undefined;
}

/** Where a stream starts: `Last-Event-ID` (newer than the `after` of the same URL), else `after`, else now. */
const beginning = async (context: GatewayContext, request: FastifyRequest, after: Cursor | undefined): Promise<Cursor> => {
  const now = context.feed.position;
  const lastEventId = request.headers['last-event-id'];
  const resumed = typeof lastEventId === 'string' ? parseCursor(lastEventId) : undefined;
  if (resumed === null) {
    throw new NatterError('invalid', 'last-event-id: use the id of an event, such as "17.2"', { field: 'last-event-id' });
  }
  return reachedCursor(context, resumed ?? after ?? afterCommit(now), resumed ? 'last-event-id' : 'after');
};

/** How a stream's frames are written. */
type Form = (type: string, data: object) => string;

const tooSlow = (form: Form, cursor: Cursor): string => {
  const detail = 'this client reads too slowly; connect again with "after" to go on from here';
  return form('error', { code: 'overloaded', detail, after: formatCursor(cursor) });
};

/** The last frame of a stream: why it ends, and its position. */
const lastFrame = (form: Form, error: unknown, cursor: Cursor): string => {
  const code = error instanceof NatterError ? error.code : 'internal';
  return form('error', { code, detail: code === 'internal' ? '' : errorMessage(error), after: formatCursor(cursor) });
};

/** Writes events until the client leaves or falls too far behind, its token ends, or the gateway stops. */
export const streamEvents = async (
  { context }: Call,
  wanted: EventRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  const { ports, access, streams, log, closing } = context;
  const { principal, actor } = request;
  const { key, filter, deltas, event } = wanted;
  if (wanted.before !== undefined)
    throw new NatterError('invalid', 'before: is not for a stream; use "after"', { field: 'before' });
  const [form, frames] = event === undefined ? [sseFrame, context.sseFrames] : [plainFrame, context.plainFrames];
  const seen = key ? await access.enter(principal, key) : 0;
  let cursor = await beginning(context, request, wanted.after);
  const closed = streams.acquire(actor);
  const headers = reply.getHeaders() as Record<string, string>;
  reply.hijack();
  const client = new SseStream(reply.raw, { clock: ports.clock, headers, cursor: formatCursor(cursor), closing });
  const { signal } = client;
  const ended = () => client.end(lastFrame(form, request.ended.reason, cursor));
  request.ended.addEventListener('abort', ended);
  const write = async (text: string): Promise<boolean> => {
    const taken = await client.write(text);
    if (!taken) client.end(tooSlow(form, cursor));
    return taken;
  };
  if (key && deltas) void followText(context, { principal, key, signal }, (text) => write(form('delta', text)));
  try {
    await followEvents(context, frames, { principal, key, filter, cursor, seen, signal }, (text, place) => {
      cursor = place;
      return write(text);
    });
    client.end();
  } catch (error) {
    log.warn({ err: error, requestId: request.id }, 'event stream ended');
    client.end(lastFrame(form, error, cursor));
  } finally {
    closed();
  }
};
