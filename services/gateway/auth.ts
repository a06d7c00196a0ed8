import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { NatterError } from '../../shared/kit/errors.ts';

/** Routes that answer without a token: they tell nothing but how the process is. */
const openRoutes: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Lets a request pass when it bears the token in `Authorization: Bearer …`; loopback is no exception, and a URL is never read for a
 * token (it ends up in logs and histories). Digests are compared, in constant time: neither content nor length of the token shows.
 * Throws `NatterError('unauthorized')`.
 */
export const bearerGuard = (token: string): ((request: FastifyRequest) => Promise<void>) => {
  const expected = digest(token);
  return async (request) => {
    if (openRoutes.has(request.routeOptions.url)) return;
    const given = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (given === undefined) throw new NatterError('unauthorized', 'send the header "Authorization: Bearer <token>"');
    if (!timingSafeEqual(digest(given), expected)) throw new NatterError('unauthorized', 'this token is not valid here');
  };
};
