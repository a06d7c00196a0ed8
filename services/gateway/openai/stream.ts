import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayContext } from '../context.ts';
import { SseStream } from '../sse.ts';
import type { Answer } from './answer.ts';
import { answerTo, type Question } from './ask.ts';
import { type OpenAiError, toldOf } from './failure.ts';

/** An answer that is told piece by piece: each part of the stream as the text that goes out. */
export interface Frames {
  begin(): string;
  text(text: string): string;
  end(answer: Answer): string;
  fail(error: OpenAiError): string;
}

/** Milliseconds until a stream begins though nothing is known of its run yet, so that nobody on the way thinks it is dead. */
const openMs = 5_000;

/**
 * Answers a question as a stream. It begins with the run, so that what is refused before is an ordinary error; a client that leaves ends
 * the stream and never the run.
 */
export const streamAnswer = async (
  context: GatewayContext,
  request: FastifyRequest,
  reply: FastifyReply,
  question: Question,
  frames: Frames,
): Promise<void> => {
  const { ports, streams, closing, log } = context;
  const { signal } = question;
  const closed = streams.take(request.actor);
  const over = new AbortController();
  let stream: SseStream | null = null;
  const open = (): SseStream => {
    if (stream !== null) return stream;
    reply.hijack();
    const headers = reply.getHeaders() as Record<string, string>;
    stream = new SseStream(reply.raw, { clock: ports.clock, headers, closing });
    void stream.write(frames.begin());
    return stream;
  };
  const write = async (frame: string): Promise<void> => {
    const client = open();
    if (!(await client.write(frame))) client.end();
  };
  void ports.clock.sleep(openMs, AbortSignal.any([signal, over.signal])).then(() => {
    if (!signal.aborted && !over.signal.aborted) open();
  });
  try {
    const answer = await answerTo(context, request, question, {
      begun: open,
      text: (text) => write(frames.text(text)),
    });
    open().end(frames.end(answer));
  } catch (error) {
    if (stream === null) throw error;
    const told = toldOf(error, request.id);
    if (told.isOurs) log.error({ err: error, requestId: request.id }, 'request failed');
    open().end(frames.fail(told.error));
  } finally {
    over.abort();
    closed();
  }
};
