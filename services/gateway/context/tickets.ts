import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Tokens } from '../../../shared/ports/access/tokens.ts';
import type { Callers, TokenBearer } from './callers.ts';
import { OneTimeSecrets } from './one-time-secrets.ts';

/** How long a ticket can be used. */
const ticketMs = 30_000;

/**
 * One-time tickets: a browser's `EventSource` cannot send a token, and a token must not be in a URL. A ticket opens one event stream at
 * one address, for the caller who created it, within 30 s, on any replica.
 */
export class Tickets {
  readonly #secrets: OneTimeSecrets;

  constructor(tokens: Tokens, clock: Clock, callers: Callers) {
    const perMinute = (): number => limits.ticketsPerMinute;
    this.#secrets = new OneTimeSecrets({ tokens, clock, callers, lifeMs: ticketMs, perMinute, plural: 'tickets' });
  }

  /** Throws `NatterError('overloaded')` for a caller above the rate limit. */
  async issue(bearer: Pick<TokenBearer, 'actor' | 'digest'>, path: string): Promise<{ ticket: string; expiresAt: number }> {
    const { secret: ticket, expiresAt } = await this.#secrets.issue(bearer, () => ({ path }));
    return { ticket, expiresAt };
  }

  /**
   * The bearer for whom a ticket was created. The ticket is used up, even at a wrong address. Throws `NatterError('unauthorized')`, and
   * `'overloaded'` for an address with too many wrong tickets.
   */
  async redeem({ url, ip }: Pick<FastifyRequest, 'url' | 'ip'>, ticket: unknown): Promise<TokenBearer> {
    const caller = await this.#secrets.redeem(ticket, ip, ({ path }, bearer) => (path === pathIn(url) ? bearer : null));
    if (caller !== null) return caller;
    const message = 'this ticket is used, too old, or for another address; ask for a new one at /v1/tickets';
    throw new NatterError('unauthorized', message, { field: 'ticket' });
  }
}

/** The path as it was sent: two spellings of one session are two paths. */
const pathIn = (url: string): string => url.split('?', 1)[0] ?? url;
