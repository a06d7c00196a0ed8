import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { ChangeKind, Principal } from '../../shared/domain/access/access.ts';
import { hasCode, NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import { type Caller, digestOf, noDigest } from './callers.ts';
import { checkChange } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { wantsStream } from './input.ts';
import { RateLimit } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** On whose behalf the call is made: what the token says, whatever the call itself claims (A5/66). */
    principal: Principal;
    /** Who calls, in the log: `token:<name>`. */
    actor: string;
    /** SHA-256 of the token they bore. */
    digest: Buffer;
    /** Aborts with a `NatterError` that says why once the token lets nobody in any more: streams and waits end then. */
    ended: AbortSignal;
  }
  interface FastifyContextConfig {
    /** What the route changes. Default: nothing with `GET`, sessions with all else. */
    changes?: ChangeKind;
    /** The route finds its caller itself, by the guard. */
    admitsItself?: true;
    /** An event stream that a ticket opens. */
    takesTicket?: true;
  }
}

/** Routes that answer without a token: they tell nothing but how the process is. */
const openRoutes: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);
/** Whom a call is from until its token is known: somebody who takes part in nothing. */
const nobody: Principal = Object.freeze({ role: 'participant', principal: '' });
/** What nobody ends. */
const never = new AbortController().signal;
/** How long a call whose token has ended may take to say so before its connection is cut. */
const cutMs = 2_000;

/** The one way in, for whatever speaks to the gateway. */
export interface Guard {
  /**
   * Lets a request pass when it bears a token in `Authorization: Bearer …`, and notes on it who calls; loopback is no exception, and a URL is
   * never read for a token (it ends up in logs and histories), only for the ticket of an event stream. Throws as `callerOf` and `count`, and
   * `NatterError('forbidden')` for a role that changes nothing.
   */
  pass(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Whose token a request bears in its header. Throws as `admit`. */
  callerOf(request: FastifyRequest): Caller;
  /** Whose token this is. Throws `NatterError('unauthorized')`, and `'overloaded'` for an address that guesses. */
  admit(token: string, from: Pick<FastifyRequest, 'ip'>): Caller;
  /** Counts a call. Throws `NatterError('overloaded')` for a caller who makes too many. */
  count(caller: Caller): void;
}

export const guardOf = (context: GatewayContext): Guard => {
  const { openCalls, tickets, ports } = context;
  const { clock } = ports;
  const calls = new RateLimit(clock, () => context.config.gateway.requestsPerMinute, 'this token makes calls');
  const admit = tokenCheck(context);
  const count = ({ actor }: Caller): void => calls.take(actor);
  const callerOf = (request: FastifyRequest): Caller => {
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new NatterError('unauthorized', 'send the header "Authorization: Bearer <token>"');
    return admit(token, request);
  };
  const pass = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    Object.assign(request, { principal: nobody, actor: '', digest: noDigest, ended: never });
    const { url, config } = request.routeOptions;
    if (openRoutes.has(url) || config.admitsItself) return;
    const ticket = config.takesTicket ? ticketIn(request) : undefined;
    const caller = ticket === undefined ? callerOf(request) : await tickets.redeem(request, ticket);
    const { actor, principal, digest } = caller;
    const { ended, over } = openCalls.begin(caller);
    reply.raw.once('close', over);
    Object.assign(request, { principal, actor, digest, ended });
    count(caller);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    checkChange(principal, config.changes ?? (isRead ? 'nothing' : 'sessions'));
    // Whatever the route does with its stream or its wait, it does not outlive the token.
    ended.addEventListener('abort', () => void clock.sleep(cutMs).then(() => reply.raw.destroy()), { once: true });
  };
  return { pass, callerOf, admit, count };
};

/** The ticket in the address of an event stream, taken out of it. A token in the header goes first. */
const ticketIn = (request: FastifyRequest): unknown => {
  const query = request.query as Record<string, unknown>;
  if (request.headers.authorization !== undefined || !wantsStream(request)) return undefined;
  const { ticket } = query;
  delete query.ticket;
  return ticket;
};

/** Finds the caller of a token. Who guesses too often from one address has to wait, but for tokens that were right before. */
const tokenCheck = (context: GatewayContext): Guard['admit'] => {
  const perMinute = () => context.config.gateway.failedAuthenticationsPerMinute;
  const failures = new RateLimit(context.ports.clock, perMinute, 'wrong tokens come from this address');
  const proven = new LRUCache<string, true>({ max: limits.rateNames });

  return (token, { ip }) => {
    const digest = digestOf(token);
    const name = digest.toString('base64');
    if (!proven.has(name)) failures.check(ip);
    try {
      const caller = context.callers.find(token, digest);
      proven.set(name, true);
      return caller;
    } catch (error) {
      if (hasCode(error, 'unauthorized')) failures.take(ip);
      throw error;
    }
  };
};
