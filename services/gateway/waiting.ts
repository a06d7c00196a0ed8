import type { FastifyReply } from 'fastify';
import type { GatewayContext } from './context.ts';

/**
 * Runs work that waits on the caller's behalf, with a signal that aborts when the caller leaves, their token ends or the gateway stops. Only
 * the waiting ends then, never a turn (A10/122). Throws `NatterError('overloaded')` when too many calls wait already, or too many of this
 * caller, and `'unauthorized'` once the token lets nobody in any more.
 */
export const waiting = async <T>(
  { waits, closing }: GatewayContext,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { actor, ended } = reply.request;
  const done = waits.take(actor);
  const gone = new AbortController();
  const leave = () => gone.abort();
  const expel = () => gone.abort(ended.reason);
  // Not AbortSignal.any: it would leave something behind on the long-lived signal with each call.
  reply.raw.once('close', leave);
  closing.addEventListener('abort', leave);
  ended.addEventListener('abort', expel);
  if (closing.aborted) leave();
  try {
    const result = await work(gone.signal);
    if (ended.aborted) throw ended.reason;
    return result;
  } finally {
    reply.raw.off('close', leave);
    closing.removeEventListener('abort', leave);
    ended.removeEventListener('abort', expel);
    done();
  }
};
