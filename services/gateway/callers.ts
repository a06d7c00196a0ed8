import { createHash } from 'node:crypto';
import type { Config } from '../../shared/config/schema.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import { grantOf, type Principal } from '../../shared/policy/access.ts';

/** Somebody with a token. `actor` is their name in the log, which never has the token itself. */
export interface Caller {
  readonly actor: string;
  readonly principal: Principal;
  /** SHA-256 of the token. */
  readonly digest: Buffer;
}

export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The name of the installation's own token in the log. */
const ownName = 'api';

const wrong = (field: string, message: string): NatterError => new NatterError('invalid', `${field}: ${message}`, { field });

/**
 * Everybody who may call: the installation's own token, which is the owner's, and those of `gateway.tokens`. Throws
 * `NatterError('invalid')` that names the field for a token that would see too much or nothing.
 */
export const callersOf = ({ gateway, session }: Pick<Config, 'gateway' | 'session'>, ownToken: string): readonly Caller[] => {
  if (ownToken === '') throw wrong('gateway.token', 'is empty');
  const tokens = Object.entries(gateway.tokens);
  if (tokens.length > limits.accessTokens)
    throw wrong('gateway.tokens', `has more than ${limits.accessTokens} tokens; remove some`);
  const callers: Caller[] = [{ actor: `token:${ownName}`, principal: { role: 'owner' }, digest: digestOf(ownToken) }];
  for (const [name, token] of tokens) {
    const field = `gateway.tokens.${name}`;
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
      throw wrong(field, 'use a name of 1 to 64 letters, digits, ".", "_" and "-"');
    if (name === ownName) throw wrong(field, `"${ownName}" is the name of gateway.token itself; use another one`);
    const grant = grantOf(token, session.identityLinks);
    if ('problem' in grant) throw wrong(`${field}.${grant.field}`, grant.problem);
    const digest = Buffer.from(token.sha256, 'hex');
    const same = callers.find((caller) => caller.digest.equals(digest));
    if (same) throw wrong(`${field}.sha256`, `is the same token as ${same.actor.slice('token:'.length)}; make one for each`);
    callers.push({ actor: `token:${name}`, principal: grant.principal, digest });
  }
  return callers;
};
