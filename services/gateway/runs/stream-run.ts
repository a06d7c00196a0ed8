import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { problemFrom } from '../http/problem.ts';
import { sessionHeader } from '../http/session-header.ts';
import { sendDeferredSse } from '../operation/deferred-sse.ts';
import { waiting } from '../operation/waiting.ts';
import type { RunEventSink } from './follow-run.ts';
import type { RunEvent } from './run-event-stream.ts';

/** A run in the frames of one protocol. */
export interface RunFrames {
  readonly headers?: Readonly<Record<string, string>>;
  begin(): string;
  tell(events: readonly RunEvent[]): string;
  /** An error of the stream itself, after it has started. */
  fail(message: string, code: string): string;
  /** The last frame of all. */
  readonly done: string;
}

/** Answers a call with the stream of a run. Anything refused before the stream starts is an ordinary problem. */
export const streamRun = async (
  context: GatewayContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { key, frames }: { readonly key: SessionKey; readonly frames: RunFrames },
  tell: (signal: AbortSignal, take: RunEventSink) => Promise<void>,
): Promise<FastifyReply> => {
  const { begin, done } = frames;
  const headers = { ...frames.headers, [sessionHeader]: encodeURIComponent(key) };
  const fail = (error: unknown) => {
    const { detail, code } = problemFrom(error, request.id);
    return { frame: frames.fail(detail, code) + done, isOurs: code === 'internal' };
  };
  await waiting(context, reply, (signal) =>
    sendDeferredSse(context, request, reply, { signal, headers, begin, fail }, async (write) => {
      await tell(signal, (events) => write(frames.tell(events)));
      return done;
    }),
  );
  return reply;
};
