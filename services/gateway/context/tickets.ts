import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Tokens } from '../../../shared/ports/access/tokens.ts';
import { RateLimit } from '../../../shared/runtime/rate-limit.ts';
import { type Callers, digestOf, type TokenBearer } from './callers.ts';

/** How long a ticket can be used. */
const ticketMs = 30_000;

const shape = /^natter_[A-Za-z0-9_-]{43}$/;
const nameOf = (ticket: string): string => digestOf(ticket).toString('hex');

/**
 * One-time tickets: a browser's `EventSource` cannot send a token, and a token must not be in a URL. A ticket opens one event stream at
 * one address, for the caller who created it, within 30 s, on any replica. Only its SHA-256 is kept.
 */
export class Tickets {
  readonly #tokens: Tokens;
  readonly #clock: Clock;
  readonly #callers: Callers;
  readonly #rate: RateLimit;
  readonly #guesses: RateLimit;

  constructor(tokens: Tokens, clock: Clock, callers: Callers) {
    this.#tokens = tokens;
    this.#clock = clock;
    this.#callers = callers;
    this.#rate = new RateLimit(clock, () => limits.ticketsPerMinute, 'this token asks for tickets');
    this.#guesses = new RateLimit(clock, () => limits.ticketsPerMinute, 'wrong tickets come from this address');
  }

  /** Throws `NatterError('overloaded')` for a caller above the rate limit. */
  async issue(
    { actor, digest }: Pick<TokenBearer, 'actor' | 'digest'>,
    path: string,
  ): Promise<{ ticket: string; expiresAt: number }> {
    this.#rate.take(actor);
    const ticket = `natter_${randomBytes(32).toString('base64url')}`;
    const expiresAt = this.#clock.now() + ticketMs;
    await this.#tokens.keepTicket(nameOf(ticket), { actor, path, expiresAt, tokenSha256: digest.toString('hex') }, ticketMs);
    return { ticket, expiresAt };
  }

  /**
   * The bearer for whom a ticket was created. The ticket is used up, even at a wrong address. Throws `NatterError('unauthorized')`, and
   * `'overloaded'` for an address with too many wrong tickets.
   */
  async redeem({ url, ip }: Pick<FastifyRequest, 'url' | 'ip'>, ticket: unknown): Promise<TokenBearer> {
    this.#guesses.check(ip);
    const kept = typeof ticket === 'string' && shape.test(ticket) ? await this.#tokens.takeTicket(nameOf(ticket)) : null;
    const isValid = kept !== null && kept.expiresAt > this.#clock.now() && kept.path === pathIn(url);
    const caller = isValid ? this.#callers.named(kept.actor, Buffer.from(kept.tokenSha256, 'hex')) : null;
    if (caller !== null) return caller;
    this.#guesses.take(ip);
    const message = 'this ticket is used, too old, or for another address; ask for a new one at /v1/tickets';
    throw new NatterError('unauthorized', message, { field: 'ticket' });
  }
}

/** The path as it was sent: two spellings of one session are two paths. */
const pathIn = (url: string): string => url.split('?', 1)[0] ?? url;
