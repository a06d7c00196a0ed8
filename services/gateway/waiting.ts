import type { FastifyReply } from 'fastify';
import type { GatewayContext } from './context.ts';

/**
 * Runs work that waits on the caller's behalf, with a signal that aborts when the caller leaves or the gateway stops. Only the waiting
 * ends then, never a turn (A10/122). Throws `NatterError('overloaded')` when too many calls wait already, or too many of this caller.
 */
export const waiting = async <T>(
  { waits, closing }: GatewayContext,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const done = waits.take(reply.request.actor);
  const gone = new AbortController();
  const leave = () => gone.abort();
  // Not AbortSignal.any: it would leave something behind on the long-lived signal with each call.
  reply.raw.once('close', leave);
  closing.addEventListener('abort', leave);
  if (closing.aborted) leave();
  try {
    return await work(gone.signal);
  } finally {
    reply.raw.off('close', leave);
    closing.removeEventListener('abort', leave);
    done();
  }
};
