import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { NatterError } from '../../shared/kit/errors.ts';
import type { Principal } from '../../shared/policy/access.ts';
import { type Caller, digestOf } from './callers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** On whose behalf the call is made: what the token says, whatever the call itself claims (A5/66). */
    principal: Principal;
    /** Who calls, in the log: `token:<name>`. */
    actor: string;
  }
}

/** Routes that answer without a token: they tell nothing but how the process is. */
const openRoutes: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);
/** Whom a call is from until its token is known: somebody who takes part in nothing. */
const nobody: Principal = Object.freeze({ role: 'participant', principal: '' });

const callerOf = (callers: readonly Caller[], token: string): Caller | null => {
  const digest = digestOf(token);
  // All are compared, always: how long it takes shows neither which token it was nor how near.
  return callers.reduce<Caller | null>((found, caller) => (timingSafeEqual(digest, caller.digest) ? caller : found), null);
};

/**
 * Lets a request pass when it bears a token in `Authorization: Bearer …`, and notes on it who calls; loopback is no exception, and a URL
 * is never read for a token (it ends up in logs and histories). Digests are compared, in constant time: neither content nor length of a
 * token shows. Throws `NatterError('unauthorized')`.
 */
export const bearerGuard = (callers: readonly Caller[]) => {
  return async (request: FastifyRequest): Promise<void> => {
    request.principal = nobody;
    if (openRoutes.has(request.routeOptions.url)) return;
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new NatterError('unauthorized', 'send the header "Authorization: Bearer <token>"');
    const caller = callerOf(callers, token);
    if (caller === null) throw new NatterError('unauthorized', 'this token is not valid here');
    request.principal = caller.principal;
    request.actor = caller.actor;
  };
};
