import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../shared/kit/clock.ts';
import type { Ticket, Tokens } from '../../../shared/ports/access/tokens.ts';
import { RateLimit } from '../../../shared/runtime/rate-limit.ts';
import { type Callers, digestOf, type TokenBearer } from './callers.ts';

export interface OneTimeSecretsOptions {
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly callers: Callers;
  /** How long a secret can be used, ms. */
  readonly lifeMs: number;
  /** Secrets for one caller, and wrong ones from one address. */
  readonly perMinute: () => number;
  /** What they are called in refusals, such as `tickets`. */
  readonly plural: string;
}

const shape = /^natter_[A-Za-z0-9_-]{43}$/;
const nameOf = (secret: string): string => digestOf(secret).toString('hex');

/** Secrets that stand for a token once: 256 random bits, used up by the first replica that sees them, and kept as a SHA-256 only (I12). */
export class OneTimeSecrets {
  readonly #options: OneTimeSecretsOptions;
  readonly #rate: RateLimit;
  readonly #guesses: RateLimit;

  constructor(options: OneTimeSecretsOptions) {
    const { clock, perMinute, plural } = options;
    this.#options = options;
    this.#rate = new RateLimit(clock, perMinute, `this token asks for ${plural}`);
    this.#guesses = new RateLimit(clock, perMinute, `wrong ${plural} come from this address`);
  }

  /** `allowed` may refuse what the caller wants. Throws `NatterError('overloaded')` for a caller above the rate limit, and what `allowed` throws. */
  async issue(
    { actor, digest }: Pick<TokenBearer, 'actor' | 'digest'>,
    allowed: () => Pick<Ticket, 'path' | 'role'>,
  ): Promise<{ readonly secret: string; readonly expiresAt: number }> {
    const { tokens, clock, lifeMs } = this.#options;
    this.#rate.take(actor);
    const opens = allowed();
    const secret = `natter_${randomBytes(32).toString('base64url')}`;
    const expiresAt = clock.now() + lifeMs;
    await tokens.keepTicket(nameOf(secret), { actor, ...opens, expiresAt, tokenSha256: digest.toString('hex') }, lifeMs);
    return { secret, expiresAt };
  }

  /**
   * Uses a secret up, and resolves with what `opened` makes of it; `null`: it is wrong, used, too old, or of a token that is not valid now.
   * Throws `NatterError('overloaded')` for an address with too many wrong ones.
   */
  async redeem<T>(secret: unknown, ip: string, opened: (kept: Ticket, bearer: TokenBearer) => T | null): Promise<T | null> {
    const { tokens, clock, callers } = this.#options;
    this.#guesses.check(ip);
    const kept = typeof secret === 'string' && shape.test(secret) ? await tokens.takeTicket(nameOf(secret)) : null;
    const isValid = kept !== null && kept.expiresAt > clock.now();
    const bearer = isValid ? callers.named(kept.actor, Buffer.from(kept.tokenSha256, 'hex')) : null;
    const result = kept !== null && bearer !== null ? opened(kept, bearer) : null;
    if (result === null) this.#guesses.take(ip);
    return result;
  }
}
