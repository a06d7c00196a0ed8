import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { GatewayContext } from './context.ts';
import { streamLate } from './late-stream.ts';
import { sessionHeader } from './openai/place.ts';
import { problemFrom } from './problem.ts';
import type { RunEvent } from './run-events.ts';
import type { TakeEvents } from './run-stream.ts';
import { waiting } from './waiting.ts';

/** A run in the frames of one protocol. */
export interface RunFrames {
  readonly headers?: Readonly<Record<string, string>>;
  begin(): string;
  tell(events: readonly RunEvent[]): string;
  /** An error of the stream itself, after it has begun. */
  fail(message: string, code: string): string;
  /** Behind all others. */
  readonly done: string;
}

/** Answers a call with a run as it goes. What is refused before the stream begins is an ordinary problem. */
export const streamRun = async (
  context: GatewayContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { key, frames }: { readonly key: SessionKey; readonly frames: RunFrames },
  tell: (signal: AbortSignal, take: TakeEvents) => Promise<void>,
): Promise<FastifyReply> => {
  const { begin, done } = frames;
  const headers = { ...frames.headers, [sessionHeader]: encodeURIComponent(key) };
  const fail = (error: unknown) => {
    const { detail, code } = problemFrom(error, request.id);
    return { frame: frames.fail(detail, code) + done, isOurs: code === 'internal' };
  };
  await waiting(context, reply, (signal) =>
    streamLate(context, request, reply, { signal, headers, begin, fail }, async (write) => {
      await tell(signal, (events) => write(frames.tell(events)));
      return done;
    }),
  );
  return reply;
};
