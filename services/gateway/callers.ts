import { createHash, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { grantOfToken, type Principal, principalOf } from '../../shared/domain/access/access.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import { errorMessage, NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { IssuedToken, Tokens, TokensView } from '../../shared/ports/tokens.ts';

/** Who may call: the installation's own token, those of `gateway.tokens`, and those that were made at run time (A8/89–90, I12). */

/** Somebody with a token. `actor` is their name in the log, which never has the token itself. */
export interface Caller {
  readonly actor: string;
  readonly principal: Principal;
  /** SHA-256 of the token they bore, or asked with for the ticket that they came with. */
  readonly digest: Buffer;
}

/** A token as it is now: what it may, its secrets, and why it lets nobody in any more, if so. */
interface Known {
  readonly actor: string;
  readonly principal: Principal;
  readonly secrets: readonly { readonly digest: Buffer; readonly until: number }[];
  readonly ended: string | null;
}

export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The name of the installation's own token in the log. */
const ownName = 'api';
/** A token that was made at run time: its id, which is no secret, and its secret. */
const issuedShape = /^([a-z0-9]{12})\.natter_[A-Za-z0-9_-]{43}$/;
/** Stands for what is not there, so that to find nothing takes as long. No text has it for its digest. */
export const noDigest = Buffer.alloc(32);
const retryMs = 500;

const actorOf = (name: string): string => `token:${name}`;
const nameOf = (actor: string): string => actor.slice('token:'.length);
const wrong = (field: string, message: string): NatterError => new NatterError('invalid', `${field}: ${message}`, { field });

const constant = (name: string, principal: Principal, digest: Buffer): Known => ({
  ...{ actor: actorOf(name), principal, ended: null },
  secrets: [{ digest, until: Number.POSITIVE_INFINITY }],
});

/**
 * The callers of the configuration, by actor: the installation's own token is the administrator's. Throws `NatterError('invalid')` that
 * names the field for a token that would see too much or nothing.
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
  const { id, secrets, revokedAt, expiresAt = Number.POSITIVE_INFINITY } = token;
  return {
    actor: actorOf(id),
    principal: principalOf(token),
    secrets: secrets.map(({ sha256, until = Number.POSITIVE_INFINITY }) => ({ digest: Buffer.from(sha256, 'hex'), until })),
    ended: revokedAt !== undefined ? 'this token was revoked' : expiresAt <= now ? 'this token has expired' : null,
  };
};

export interface CallersOptions {
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly log: Logger;
  /** Asked each time: tokens come and go while we run. */
  readonly config: () => Config;
  readonly ownToken: string;
}

/** All callers as they are now: every replica follows both the configuration and the tokens made at run time. */
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

  problems(): readonly string[] {
    return this.#view === null ? [`tokens: ${this.#problem}`] : [];
  }

  /** The tokens made at run time. Throws `NatterError('unavailable')` before they are loaded. */
  get issued(): TokensView {
    if (this.#view === null) throw new NatterError('unavailable', `tokens: ${this.#problem}`);
    return this.#view;
  }

  /**
   * Whose token this is. All that could be meant are compared, always, and in constant time: how long it takes shows neither which token it
   * was, nor how near, nor whether there is one of that id. Throws `NatterError('unauthorized')`.
   */
  find(token: string, digest = digestOf(token)): Caller {
    const now = this.#options.clock.now();
    let found: Known | null = null;
    for (const known of this.#current().values()) if (bears(known, digest)) found = known;
    const id = issuedShape.exec(token)?.[1];
    const issued = this.#view?.get(id ?? '');
    const known = issued && knownOf(issued, now);
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

  /** The caller of this name, as the log has it, with a token of this digest; `null`: there is none, or none any more. */
  named(actor: string, digest: Buffer): Caller | null {
    const known = this.#known(actor);
    const caller = known && { actor, principal: known.principal, digest };
    return caller === null || this.problemOf(caller) !== null ? null : caller;
  }

  /** Why a caller who was let in is not to go on; `null`: nothing has changed for them. */
  problemOf({ actor, principal, digest }: Caller): string | null {
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
    return issued ? knownOf(issued, this.#options.clock.now()) : null;
  }

  /** Those of the configuration as it is now. One that cannot be used changes nothing: the last good one stays in force. */
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

/** Whether a secret of the token has this digest. Two are compared, whatever there is. */
const bears = (known: Known | undefined, digest: Buffer): boolean => {
  const [first = noDigest, second = noDigest] = known?.secrets.map((secret) => secret.digest) ?? [];
  const [isFirst, isSecond] = [timingSafeEqual(first, digest), timingSafeEqual(second, digest)];
  return isFirst || isSecond;
};
