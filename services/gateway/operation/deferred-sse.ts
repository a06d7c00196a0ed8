import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasCode, NatterError } from '../../../shared/kit/errors.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { SseStream } from '../http/sse.ts';

/** An answer streamed in another protocol's format. */
export interface DeferredSse {
  /** The signal of the call, from `waiting`. */
  readonly signal: AbortSignal;
  /** In addition to those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The first frames. */
  begin(): string;
  /** The frame that reports an error once the stream has started. `isOurs`: an internal error, to be logged. */
  fail(error: unknown): { readonly frame: string; readonly isOurs: boolean };
}

/** Writes at once, and resolves when the client can take more. A client that reads too slowly gets an error frame and is disconnected. An empty frame starts the stream. */
export type Write = (frame: string) => Promise<void>;

/** The stream starts after this many ms even without an event of its run, so that no proxy takes the connection for dead. */
const openMs = 5_000;

/**
 * Answers a call with a stream that starts with its first write, so that anything refused before that is an ordinary HTTP error. `work`
 * resolves with the last frames. A client that leaves ends the stream, never the run.
 */
export const sendDeferredSse = async (
  context: GatewayContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { signal, headers: own, begin, fail }: DeferredSse,
  work: (write: Write) => Promise<string>,
): Promise<void> => {
  const { ports, streams, closing, log } = context;
  const closed = streams.acquire(request.actor);
  const over = new AbortController();
  let stream: SseStream | null = null;
  const open = (): SseStream => {
    if (stream !== null) return stream;
    reply.hijack();
    const headers = { ...(reply.getHeaders() as Record<string, string>), ...own };
    stream = new SseStream(reply.raw, { clock: ports.clock, headers, closing });
    void stream.write(begin());
    return stream;
  };
  const write: Write = async (frame) => {
    const client = open();
    if (frame !== '' && !(await client.write(frame))) client.end(fail(tooSlow()).frame);
  };
  // Clients learn at once that their token has ended or that the gateway is shutting down.
  signal.addEventListener('abort', () => stream?.end(fail(reasonOf(signal)).frame), { once: true, signal: over.signal });
  void ports.clock.sleep(openMs, AbortSignal.any([signal, over.signal])).then(() => {
    if (!signal.aborted && !over.signal.aborted) open();
  });
  try {
    const last = await work(write);
    // Work that was aborted may return as if nothing had happened.
    if (signal.aborted) throw reasonOf(signal);
    open().end(last);
  } catch (error) {
    if (stream === null) throw error;
    const { frame, isOurs } = fail(error);
    if (isOurs) log.error({ err: error, requestId: request.id }, 'request failed');
    open().end(frame);
  } finally {
    over.abort();
    closed();
  }
};

const tooSlow = (): NatterError => new NatterError('overloaded', 'this client reads too slowly; running turns continue');
const reasonOf = ({ reason }: AbortSignal): unknown =>
  hasCode(reason, 'unauthorized')
    ? reason
    : new NatterError('unavailable', 'the gateway is shutting down; running turns continue');
