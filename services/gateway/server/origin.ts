import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { isOwnOrigin } from '../http/own-origin.ts';

/** Web pages: a foreign page must not act on the gateway through the browser of a person who can reach it. */

/** What pages of an allowed origin may send and read. */
const preflight: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE',
  'access-control-max-age': '600',
};
/** An allowed page may send any header: the official clients send many. */
const allowed = 'authorization, content-type, accept, idempotency-key, if-match, if-none-match, last-event-id';
const exposed = 'etag, retry-after, x-request-id, x-natter-session, x-natter-run';

const isRead = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') &&
  headers.upgrade === undefined &&
  !/\btext\/event-stream\b/i.test(headers.accept ?? '');

/**
 * Refuses writes, streams and WebSockets of foreign pages, unless their origin is in `gateway.allowedOrigins`. Plain reads are served: the
 * browser hides their answers from the page. Throws `NatterError('forbidden')`.
 */
export const checkOrigin = (request: FastifyRequest, reply: FastifyReply, gateway: Config['gateway']): void => {
  const { origin } = request.headers;
  // Without an origin, Fetch Metadata still shows that a foreign page asks; programs send neither.
  const isElsewhere = /^(cross|same)-site$/.test(String(request.headers['sec-fetch-site']));
  if (origin === undefined ? !isElsewhere : isOwnOrigin(request, gateway)) return;
  if (origin !== undefined && gateway.allowedOrigins.includes(origin)) {
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed, vary: 'origin' });
    return;
  }
  if (isRead(request)) return;
  const message = 'origin: pages of this origin may not use the gateway; add it to gateway.allowedOrigins';
  throw new NatterError('forbidden', message, { field: 'origin' });
};

/** The host name in a URL, without brackets; empty if it is none. */
const nameIn = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '');

/**
 * Whether a `Host` header is an address or a name of this gateway. Any other name could be a page's own, made to resolve to this machine so
 * that the page may read the answer (DNS rebinding); that cannot be done with an address, which is what probes use.
 */
export const isOwnName = (header: string, { host, hostNames, allowedOrigins, publicUrl }: Config['gateway']): boolean => {
  const name = nameIn(`http://${header}`);
  const known = ['localhost', host, ...hostNames, ...[...(publicUrl ? [publicUrl] : []), ...allowedOrigins].map(nameIn)];
  return isIP(name) !== 0 || known.some((each) => each.toLowerCase() === name);
};
export const notOwnName = 'host: the gateway does not have this name; use its address, or add the name to gateway.hostNames';

/** Refuses a route without a token to a name that is not the gateway's. Throws `NatterError('invalid')`. */
export const checkHostName = ({ headers: { host } }: FastifyRequest, config: Config['gateway']): void => {
  if (host !== undefined && !isOwnName(host, config)) throw new NatterError('invalid', notOwnName, { field: 'host' });
};

/** Answers the preflight request of an allowed page. `false`: not a preflight, or not an allowed page. */
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
