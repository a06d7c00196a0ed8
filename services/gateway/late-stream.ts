import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasCode, NatterError } from '../../shared/kit/errors.ts';
import type { GatewayContext } from './context.ts';
import { SseStream } from './sse.ts';

/** An answer that is told piece by piece in somebody else's protocol, as the text that goes out. */
export interface LateStream {
  /** Of the call, as `waiting` has it. */
  readonly signal: AbortSignal;
  /** Besides those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The first frames. */
  begin(): string;
  /** What is told of an error once the stream has begun. `isOurs`: to be logged. */
  fail(error: unknown): { readonly frame: string; readonly isOurs: boolean };
}

/** Writes at once, and resolves when more may come. A client that does not read is told so behind what it has, and left. An empty frame begins the stream. */
export type Write = (frame: string) => Promise<void>;

/** Milliseconds until a stream begins though nothing is known of its run yet, so that nobody on the way thinks it is dead. */
const openMs = 5_000;

/**
 * Answers a call with a stream that begins with what is first written, so that what is refused before is an ordinary error. `work` resolves
 * with the last frames. A client that leaves ends the stream and never a run.
 */
export const streamLate = async (
  context: GatewayContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { signal, headers: own, begin, fail }: LateStream,
  work: (write: Write) => Promise<string>,
): Promise<void> => {
  const { ports, streams, closing, log } = context;
  const closed = streams.take(request.actor);
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
  // Of a token that ends, and of a gateway that stops, a client is told at once.
  signal.addEventListener('abort', () => stream?.end(fail(reasonOf(signal)).frame), { once: true, signal: over.signal });
  void ports.clock.sleep(openMs, AbortSignal.any([signal, over.signal])).then(() => {
    if (!signal.aborted && !over.signal.aborted) open();
  });
  try {
    const last = await work(write);
    // Work that its signal ends may have nothing to say of that.
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

const tooSlow = (): NatterError => new NatterError('overloaded', 'this client reads too slowly; what runs goes on');
const reasonOf = ({ reason }: AbortSignal): unknown =>
  hasCode(reason, 'unauthorized') ? reason : new NatterError('unavailable', 'the gateway stops; what runs goes on');
