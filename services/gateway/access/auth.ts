import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChangeKind, Principal } from '../../../shared/domain/access/access.ts';
import { hasCode, NatterError } from '../../../shared/kit/errors.ts';
import { Ending } from '../../../shared/kit/signal.ts';
import { RateLimit } from '../../../shared/runtime/rate-limit.ts';
import { checkChange } from '../commands/envelope.ts';
import { noDigest, type TokenBearer } from '../context/callers.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { wantsStream } from '../http/input.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** On whose behalf the call is made. The token says so, whatever the call itself claims (A5/66). */
    principal: Principal;
    /** Who calls, in the log: `token:<name>`. */
    actor: string;
    /** SHA-256 of their token. */
    digest: Buffer;
    /** Aborts once the token is no longer valid, with a `NatterError` as its reason. Streams and waits end then. */
    ended: Ending;
  }
  interface FastifyContextConfig {
    /** What the route changes. Default: nothing for `GET`, sessions for every other method. */
    changes?: ChangeKind;
    /** Answers without a token: it reveals only the health of the process, or is the page and its way in. */
    isOpen?: true;
    /** The route authenticates its caller itself, through the guard. */
    admitsItself?: true;
    /** An event stream that a ticket opens. */
    takesTicket?: true;
  }
}

/** The principal of a call until its token is known: it takes part in no session. */
const nobody: Principal = Object.freeze({ role: 'participant', principal: '' });
/** Never aborts. */
const never = new Ending();
/** How long a call may take to report that its token has ended, before its connection is cut. */
const cutMs = 2_000;

/** Authenticates every call, whatever its protocol. */
export interface Guard {
  /**
   * Admits a request with a valid token in `Authorization: Bearer …` and records the caller on it. Loopback is no exception. A token in the URL
   * is never read, because URLs end up in logs and histories; only the ticket of an event stream is. Throws as `callerOf` and `count`, and
   * `NatterError('forbidden')` for a role that may not make this change.
   */
  pass(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** The bearer of the token in a request's header. Throws as `admit`. */
  callerOf(request: FastifyRequest): TokenBearer;
  /** The bearer of this token. Throws `NatterError('unauthorized')`, and `'overloaded'` for an address with too many wrong tokens. */
  admit(token: string, from: Pick<FastifyRequest, 'ip'>): TokenBearer;
  /** Counts a call. Throws `NatterError('overloaded')` for a caller above the rate limit. */
  count(caller: TokenBearer): void;
}

/** What a request changes. */
export const changeOf = ({ method, routeOptions: { config } }: FastifyRequest): ChangeKind =>
  config.changes ?? (method === 'GET' || method === 'HEAD' ? 'nothing' : 'sessions');

export const guardOf = (context: GatewayContext): Guard => {
  const { openCalls, tickets, ports } = context;
  const { clock } = ports;
  const calls = new RateLimit(clock, () => context.config.gateway.requestsPerMinute, 'this token makes calls');
  const admit = tokenCheck(context);
  const count = ({ actor }: TokenBearer): void => calls.take(actor);
  const callerOf = (request: FastifyRequest): TokenBearer => {
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new NatterError('unauthorized', 'send the header "Authorization: Bearer <token>"');
    return admit(token, request);
  };
  const pass = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    Object.assign(request, { principal: nobody, actor: '', digest: noDigest, ended: never });
    const { config } = request.routeOptions;
    if (config.isOpen || config.admitsItself) return;
    const ticket = config.takesTicket ? ticketIn(request) : undefined;
    const caller = ticket === undefined ? callerOf(request) : await tickets.redeem(request, ticket);
    const { actor, principal, digest } = caller;
    const { ended, over } = openCalls.begin(caller);
    reply.raw.once('close', over);
    Object.assign(request, { principal, actor, digest, ended });
    count(caller);
    checkChange(principal, changeOf(request));
    // No stream and no wait outlives its token.
    ended.addEventListener('abort', () => void clock.sleep(cutMs).then(() => reply.raw.destroy()));
  };
  return { pass, callerOf, admit, count };
};

/** Takes the ticket out of the address of an event stream. A token in the header has precedence. */
const ticketIn = (request: FastifyRequest): unknown => {
  const query = request.query as Record<string, unknown>;
  if (request.headers.authorization !== undefined || !wantsStream(request)) return undefined;
  const { ticket } = query;
  delete query.ticket;
  return ticket;
};

/** Finds the bearer of a token. An address with too many wrong tokens is told to wait; a valid token is admitted all the same. */
const tokenCheck = (context: GatewayContext): Guard['admit'] => {
  const perMinute = () => context.config.gateway.failedAuthenticationsPerMinute;
  const failures = new RateLimit(context.ports.clock, perMinute, 'wrong tokens come from this address');

  return (token, { ip }) => {
    try {
      return context.callers.find(token);
    } catch (error) {
      if (hasCode(error, 'unauthorized')) failures.take(ip);
      throw error;
    }
  };
};
