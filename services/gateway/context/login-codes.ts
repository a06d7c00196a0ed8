import { randomBytes } from 'node:crypto';
import { loweredReach, roleOf } from '../../../shared/domain/access/lowered-reach.ts';
import type { Role } from '../../../shared/domain/values/role.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Tokens } from '../../../shared/ports/access/tokens.ts';
import { RateLimit } from '../../../shared/runtime/rate-limit.ts';
import { type Callers, digestOf, type TokenBearer } from './callers.ts';

/** How long a code can be used. */
const codeMs = 60_000;
const shape = /^natter_[A-Za-z0-9_-]{43}$/;
const nameOf = (code: string): string => digestOf(code).toString('hex');
/** Stands where a ticket has its path: no path of a ticket is like it, so that neither can be used as the other. */
const place = 'page';

/** Who a code signs in, and with which role. */
export interface CodeBearer {
  readonly parent: TokenBearer;
  readonly role: Role;
}

/**
 * One-time codes that sign the page in (`natter open`): 256 random bits that ride in the fragment of an address, for 60 s, used up by the
 * first replica that sees them. Kept beside the tickets, as a SHA-256 (I12).
 */
export class LoginCodes {
  readonly #tokens: Tokens;
  readonly #clock: Clock;
  readonly #callers: Callers;
  readonly #rate: RateLimit;
  readonly #guesses: RateLimit;

  constructor(tokens: Tokens, clock: Clock, callers: Callers) {
    this.#tokens = tokens;
    this.#clock = clock;
    this.#callers = callers;
    this.#rate = new RateLimit(clock, () => limits.loginsPerMinute, 'this token asks for codes');
    this.#guesses = new RateLimit(clock, () => limits.loginsPerMinute, 'wrong codes come from this address');
  }

  /** Throws `NatterError('forbidden')` for a role that may do more than the caller, and `'overloaded'` above the rate limit. */
  async issue(
    { actor, digest, principal }: TokenBearer,
    wanted?: Role,
  ): Promise<{ code: string; expiresAt: number; role: Role }> {
    this.#rate.take(actor);
    const role = wanted ?? roleOf(principal);
    if (loweredReach(principal, role) === null)
      throw new NatterError('forbidden', `role: a token of role "${roleOf(principal)}" cannot sign in as "${role}"`, {
        field: 'role',
      });
    if (this.#callers.isDerived(actor))
      throw new NatterError('forbidden', 'a page cannot sign in another one; use the token that it was opened with');
    const code = `natter_${randomBytes(32).toString('base64url')}`;
    const expiresAt = this.#clock.now() + codeMs;
    const kept = { actor, path: place, expiresAt, tokenSha256: digest.toString('hex'), role };
    await this.#tokens.keepTicket(nameOf(code), kept, codeMs);
    return { code, expiresAt, role };
  }

  /** Uses a code up. Throws `NatterError('unauthorized')`, and `'overloaded'` for an address with too many wrong codes. */
  async redeem(code: string, ip: string): Promise<CodeBearer> {
    this.#guesses.check(ip);
    const kept = shape.test(code) ? await this.#tokens.takeTicket(nameOf(code)) : null;
    const isValid = kept !== null && kept.path === place && kept.expiresAt > this.#clock.now();
    const parent = isValid ? this.#callers.named(kept.actor, Buffer.from(kept.tokenSha256, 'hex')) : null;
    if (parent !== null && kept?.role !== undefined && loweredReach(parent.principal, kept.role))
      return { parent, role: kept.role };
    this.#guesses.take(ip);
    throw new NatterError('unauthorized', 'this code is used or too old; run "natter open" for a new one', { field: 'code' });
  }
}
