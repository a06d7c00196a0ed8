import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../shared/domain/config/schema.ts';
import { NatterError } from '../../shared/kit/errors.ts';

/** Pages in browsers: a page of somebody else must not act through the browser of a person whose machine reaches the gateway. */

/** What pages of an allowed origin may send and read. */
const preflight: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE',
  'access-control-max-age': '600',
};
/** Without a question for others. A page that may use the gateway may send it any header: those of the official clients are many. */
const allowed = 'authorization, content-type, accept, idempotency-key, if-match, if-none-match, last-event-id';
const exposed = 'etag, retry-after, x-request-id, x-natter-session, x-natter-run';

/** The addresses this machine knows us by. What a request calls us is no proof: its host may be any name that leads here (DNS rebinding). */
const isOwn = (origin: string, host: string, port: number | undefined): boolean =>
  [host, '127.0.0.1', 'localhost', '::1'].some((name) => origin === `http://${name.includes(':') ? `[${name}]` : name}:${port}`);

const isRead = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') &&
  headers.upgrade === undefined &&
  !/\btext\/event-stream\b/i.test(headers.accept ?? '');

/**
 * Refuses what a page elsewhere asks for, unless its origin is one of `gateway.allowedOrigins`: all that writes, streams and WebSockets. What
 * else it reads its browser keeps from it. Throws `NatterError('forbidden')`.
 */
export const checkOrigin = (request: FastifyRequest, reply: FastifyReply, { host, allowedOrigins }: Config['gateway']): void => {
  const { origin } = request.headers;
  // Without an origin a browser still says that a page elsewhere asks; programs say nothing (W3C Fetch Metadata).
  const isElsewhere = /^(cross|same)-site$/.test(String(request.headers['sec-fetch-site']));
  if (origin === undefined ? !isElsewhere : isOwn(origin, host, request.socket.localPort)) return;
  if (origin !== undefined && allowedOrigins.includes(origin)) {
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed, vary: 'origin' });
    return;
  }
  if (isRead(request)) return;
  const message = 'origin: pages of this origin may not use the gateway; add it to gateway.allowedOrigins';
  throw new NatterError('forbidden', message, { field: 'origin' });
};

/** Answers the browser of an allowed page that asks whether it may. `false`: it asks nothing, or not for such a page. */
export const answersPreflight = ({ method, headers }: FastifyRequest, reply: FastifyReply): boolean => {
  const isAsked = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (!isAsked || reply.getHeader('access-control-allow-origin') === undefined) return false;
  const wanted = headers['access-control-request-headers'] ?? allowed;
  void reply
    .code(204)
    .headers({ ...preflight, 'access-control-allow-headers': wanted })
    .send();
  return true;
};
