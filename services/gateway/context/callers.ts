import { hash, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { grantOfToken, type Principal, principalOf } from '../../../shared/domain/access/access.ts';
import { loweredReach } from '../../../shared/domain/access/lowered-reach.ts';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { IssuedToken, Tokens, TokensView } from '../../../shared/ports/access/tokens.ts';

/** Who may call: holders of the installation's own token, of those in `gateway.tokens`, and of those created at run time (A8/89–90, I12). */

/** The holder of a token. `actor` is their name in the log; the token itself is never logged. */
export interface TokenBearer {
  readonly actor: string;
  readonly principal: Principal;
  /** SHA-256 of their token, or of the token with which their ticket was created. */
  readonly digest: Buffer;
}

/** A token as it is now: its permissions, its secrets and, if it is no longer valid, why. */
interface Known {
  readonly actor: string;
  readonly principal: Principal;
  readonly secrets: readonly { readonly digest: Buffer; readonly until: number }[];
  readonly ended: string | null;
}

export const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer');

/** The name of the installation's own token in the log. */
const ownName = 'api';
/** A token created at run time: its public id and its secret. */
const issuedShape = /^([a-z0-9]{12})\.natter_[A-Za-z0-9_-]{43}$/;
/** Compared where there is no secret, so that the time is the same. No token has this digest. */
export const noDigest = Buffer.alloc(32);
const retryMs = 500;

const actorOf = (name: string): string => `token:${name}`;
/** The name, or the id, of the token that an actor holds: the last part. */
const nameOf = (actor: string): string => actor.slice(actor.lastIndexOf(':') + 1);
/** A page's token says whose page it is: by the token that opened it, or by the page's role where that is the installation's own. */
const issuedNameOf = ({ id, parent, role }: IssuedToken): string => {
  if (parent === undefined) return id;
  const opener = nameOf(parent.actor);
  const own = role === 'admin' ? 'owner' : role;
  return `page:${opener === ownName ? own : opener}:${id}`;
};
const wrong = (field: string, message: string): NatterError => new NatterError('invalid', `${field}: ${message}`, { field });

const constant = (name: string, principal: Principal, digest: Buffer): Known => ({
  ...{ actor: actorOf(name), principal, ended: null },
  secrets: [{ digest, until: Number.POSITIVE_INFINITY }],
});

/**
 * The tokens of the configuration, by actor. The installation's own token is the administrator's. Throws `NatterError('invalid')` that
 * names the field for a token that would see too much or nothing at all.
 */
const configuredCallers = (
  { gateway, session }: Pick<Config, 'gateway' | 'session'>,
  ownToken: string,
): ReadonlyMap<string, Known> => {
  if (ownToken === '') throw wrong('gateway.token', 'is empty');
  const tokens = Object.entries(gateway.tokens);
  if (tokens.length > limits.accessTokens)
    throw wrong('gateway.tokens', `has more than ${limits.accessTokens} tokens; remove some`);
  const callers = [constant(ownName, { role: 'owner', admin: true }, digestOf(ownToken))];
  for (const [name, token] of tokens) {
    const field = `gateway.tokens.${name}`;
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
      throw wrong(field, 'use a name of 1 to 64 letters, digits, ".", "_" and "-"');
    if (name === ownName) throw wrong(field, `"${ownName}" is the name of gateway.token itself; use another one`);
    const grant = grantOfToken(token, session.identityLinks);
    if ('problem' in grant) throw wrong(`${field}.${grant.field}`, grant.problem);
    const digest = Buffer.from(token.sha256, 'hex');
    const same = callers.find(({ secrets }) => secrets.some((secret) => secret.digest.equals(digest)));
    if (same) throw wrong(`${field}.sha256`, `is the same token as ${nameOf(same.actor)}; make one for each`);
    callers.push(constant(name, grant.principal, digest));
  }
  return new Map(callers.map((caller) => [caller.actor, caller]));
};

const knownOf = (token: IssuedToken, now: number): Known => {
  const { secrets, revokedAt, expiresAt = Number.POSITIVE_INFINITY } = token;
  return {
    actor: actorOf(issuedNameOf(token)),
    principal: principalOf(token),
    secrets: secrets.map(({ sha256, until = Number.POSITIVE_INFINITY }) => ({ digest: Buffer.from(sha256, 'hex'), until })),
    ended: revokedAt !== undefined ? 'this token was revoked' : expiresAt <= now ? 'this token has expired' : null,
  };
};

export interface CallersOptions {
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called each time: tokens change at run time. */
  readonly config: () => Config;
  readonly ownToken: string;
}

/** All tokens as they are now: every replica follows both the configuration and the tokens created at run time. */
export class Callers {
  readonly #options: CallersOptions;
  readonly #closing = new AbortController();
  readonly #opening: Promise<void>;
  #configured: ReadonlyMap<string, Known>;
  /** What `#configured` was made of. */
  #read: readonly [tokens: object, links: object];
  #view: TokensView | null = null;
  #problem = 'not loaded yet';

  /** Throws `NatterError('invalid')` as `configuredCallers`. */
  constructor(options: CallersOptions) {
    this.#options = options;
    const config = options.config();
    this.#configured = configuredCallers(config, options.ownToken);
    this.#read = [config.gateway.tokens, config.session.identityLinks];
    this.#opening = this.#open();
  }

  problems(): readonly HealthProblem[] {
    return this.#view === null ? [new HealthProblem('starting', `tokens: ${this.#problem}`)] : [];
  }

  /** The tokens made at run time. Throws `NatterError('unavailable')` before they are loaded. */
  get issued(): TokensView {
    if (this.#view === null) throw new NatterError('unavailable', `tokens: ${this.#problem}`);
    return this.#view;
  }

  /**
   * The bearer of a token. All candidates are compared, always, in constant time, so that timing reveals neither which token it was, nor how
   * close a guess was, nor whether the id exists. Throws `NatterError('unauthorized')`.
   */
  find(token: string, digest = digestOf(token)): TokenBearer {
    const now = this.#options.clock.now();
    let found: Known | null = null;
    for (const known of this.#current().values()) if (bears(known, digest)) found = known;
    const id = issuedShape.exec(token)?.[1];
    const issued = this.#view?.get(id ?? '');
    const known = issued && this.#issuedKnown(issued, now);
    if (bears(known, digest) && known) found = known;
    if (found === null) {
      if (id !== undefined && this.#view === null) throw new NatterError('unavailable', `tokens: ${this.#problem}`);
      throw new NatterError('unauthorized', 'this token is not valid here');
    }
    const caller = { actor: found.actor, principal: found.principal, digest };
    const problem = this.problemOf(caller);
    if (problem !== null) throw new NatterError('unauthorized', problem);
    return caller;
  }

  /** The bearer with this name in the log and a token of this digest; `null` if there is none, or no longer one. */
  named(actor: string, digest: Buffer): TokenBearer | null {
    const known = this.#known(actor);
    const caller = known && { actor, principal: known.principal, digest };
    return caller === null || this.problemOf(caller) !== null ? null : caller;
  }

  /** The token made at run time that an actor holds, if it is one. */
  issuedTo(actor: string): IssuedToken | undefined {
    return this.#view?.get(nameOf(actor));
  }

  /** Whether an actor's token was derived from another one. */
  isDerived(actor: string): boolean {
    return this.issuedTo(actor)?.parent !== undefined;
  }

  /** Why a caller who was admitted may not go on; `null` if nothing has changed for them. */
  problemOf({ actor, principal, digest }: TokenBearer): string | null {
    const known = this.#known(actor);
    if (known === null) return 'this token was removed';
    if (known.ended !== null) return known.ended;
    if (!isDeepStrictEqual(known.principal, principal)) return 'what this token may do has changed; call again';
    const secret = known.secrets.find((each) => each.digest.equals(digest));
    const isValid = secret !== undefined && secret.until > this.#options.clock.now();
    return isValid ? null : 'this token was replaced by a new one';
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening;
    await this.#view?.close();
  }

  #known(actor: string): Known | null {
    const configured = this.#current().get(actor);
    if (configured !== undefined) return configured;
    const issued = this.#view?.get(nameOf(actor));
    return issued ? this.#issuedKnown(issued, this.#options.clock.now()) : null;
  }

  /** A derived token ends with its parent, and with a change of its role that would leave it less. */
  #issuedKnown(token: IssuedToken, now: number): Known {
    const known = knownOf(token, now);
    if (token.parent === undefined || known.ended !== null) return known;
    const parent = this.named(token.parent.actor, Buffer.from(token.parent.sha256, 'hex'));
    if (parent === null) return { ...known, ended: 'the token that it was made with is no longer valid' };
    const reach = loweredReach(parent.principal, token.role);
    if (reach && isDeepStrictEqual(principalOf(reach), known.principal)) return known;
    return { ...known, ended: 'the token that it was made with may do less now' };
  }

  /** The tokens of the current configuration. An invalid one is ignored: the last good one stays in force. */
  #current(): ReadonlyMap<string, Known> {
    const { gateway, session } = this.#options.config();
    const [tokens, links] = this.#read;
    if (gateway.tokens === tokens && session.identityLinks === links) return this.#configured;
    this.#read = [gateway.tokens, session.identityLinks];
    try {
      this.#configured = configuredCallers({ gateway, session }, this.#options.ownToken);
    } catch (error) {
      this.#options.log.error({ problem: errorMessage(error) }, 'the changed tokens cannot be used; those before stay in force');
    }
    return this.#configured;
  }

  async #open(): Promise<void> {
    const { tokens, clock } = this.#options;
    const { signal } = this.#closing;
    while (this.#view === null && !signal.aborted) {
      try {
        this.#view = await tokens.watch();
      } catch (error) {
        this.#problem = errorMessage(error);
        await clock.sleep(retryMs, signal);
      }
    }
  }
}

/** Whether a secret of the token has this digest. Always makes two comparisons. */
const bears = (known: Known | undefined, digest: Buffer): boolean => {
  const [first = noDigest, second = noDigest] = known?.secrets.map((secret) => secret.digest) ?? [];
  const [isFirst, isSecond] = [timingSafeEqual(first, digest), timingSafeEqual(second, digest)];
  return isFirst || isSecond;
};
