import type { FastifyReply } from 'fastify';
import { whenAborted } from '../../../shared/kit/signal.ts';
import type { GatewayContext } from '../context/gateway-context.ts';

/**
 * Runs work that waits on the caller's behalf, with a signal that aborts when the caller leaves, the token ends or the gateway stops. Only the
 * wait ends then, never a turn (A10/122). Throws `NatterError('overloaded')` when too many calls wait already, in all or of this caller, and
 * `'unauthorized'` once the token has ended.
 */
export const waiting = async <T>(
  { waits, closing }: GatewayContext,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { actor, ended } = reply.request;
  const done = waits.acquire(actor);
  const gone = new AbortController();
  const leave = () => gone.abort();
  const expel = () => gone.abort(ended.reason);
  // Not AbortSignal.any: each call would leave a listener on the long-lived signal.
  reply.raw.once('close', leave);
  const notClosing = whenAborted(closing, leave);
  ended.addEventListener('abort', expel);
  if (closing.aborted) leave();
  try {
    const result = await work(gone.signal);
    if (ended.aborted) throw ended.reason;
    return result;
  } finally {
    reply.raw.off('close', leave);
    notClosing();
    ended.removeEventListener('abort', expel);
    done();
  }
};
