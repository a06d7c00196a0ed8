import { randomBytes, randomInt } from 'node:crypto';
import { grantOfToken, type Reach } from '../../shared/domain/access/access.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { IssuedToken, TokenSecret } from '../../shared/ports/tokens.ts';
import { digestOf } from './callers.ts';
import type { Asker } from './commands.ts';
import type { GatewayContext } from './context.ts';

/** How long lists show a token that lets nobody in any more; then there is room for another one. */
const shownMs = 30 * 86_400_000;

/** A wish for a token. */
export interface Wanted extends Reach {
  readonly label: string;
  readonly expiresAt?: number | undefined;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const newId = (): string => Array.from({ length: 12 }, () => letters[randomInt(letters.length)]).join('');

/** A token of 256 random bits under an id, told once; only its digest is kept. */
const newToken = (id: string): { token: string; secret: TokenSecret } => {
  const token = `${id}.natter_${randomBytes(32).toString('base64url')}`;
  return { token, secret: { sha256: digestOf(token).toString('hex') } };
};

const endOf = ({ revokedAt, expiresAt = Number.POSITIVE_INFINITY }: IssuedToken): number =>
  Math.min(revokedAt ?? expiresAt, expiresAt);
const statusOf = (token: IssuedToken, now: number): 'active' | 'expired' | 'revoked' => {
  if (token.revokedAt !== undefined) return 'revoked';
  return endOf(token) <= now ? 'expired' : 'active';
};

/** A token as administrators see it: never its digest. */
const shown = (token: IssuedToken, now: number) => {
  const { v: _, secrets, ...facts } = token;
  const oldUntil = secrets[1]?.until;
  return {
    ...facts,
    status: statusOf(token, now),
    ...(oldUntil !== undefined && oldUntil > now && { oldSecretUntil: oldUntil }),
  };
};

/** An id as the audit trail tells of it, whatever somebody gives for one. */
const shortened = (id: string): string => (/^[a-z0-9]{1,64}$/.test(id) ? id : 'no id of a token');

const noSuchToken = (): NatterError =>
  new NatterError('not_found', 'id: there is no such token; list them. Those of the configuration are changed there', {
    field: 'id',
  });

/** Makes tokens while the system runs, and takes them back. What it does is in force here at once, and on other replicas within a second. */
export class TokenOffice {
  readonly #context: GatewayContext;

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  /** The newest first. */
  list() {
    const now = this.#now;
    return [...this.#context.callers.issued.all()]
      .filter((token) => endOf(token) + shownMs > now)
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1))
      .map((token) => shown(token, now));
  }

  /** Throws `NatterError('invalid')` that names the field of a token that would see too much or nothing. */
  async create(asker: Asker, wanted: Wanted) {
    const { callers, config, ports, audit } = this.#context;
    const { role, principal, namespace, label, expiresAt } = wanted;
    const now = this.#now;
    const grant = grantOfToken(wanted, config.session.identityLinks);
    if ('problem' in grant) throw new NatterError('invalid', `${grant.field}: ${grant.problem}`, { field: grant.field });
    if (expiresAt !== undefined && expiresAt <= now)
      throw new NatterError('invalid', 'expiresAt: is in the past', { field: 'expiresAt' });
    await this.#makeRoom();
    const id = newId();
    const { token, secret } = newToken(id);
    const reach = { role, ...(principal !== undefined && { principal }), ...(namespace !== undefined && { namespace }) };
    const made: IssuedToken = {
      ...{ v: 1, id, ...reach, label, createdAt: now, createdBy: asker.actor, secrets: [secret] },
      ...(expiresAt !== undefined && { expiresAt }),
    };
    await audit.before('token_created', asker, { target: id, detail: reach }, async () => {
      if (!(await ports.tokens.add(made))) throw new NatterError('unavailable', 'this id is taken; try again');
    });
    await callers.issued.refresh();
    return { token, ...shown(made, now) };
  }

  async revoke(asker: Asker, id: string) {
    const now = this.#now;
    const revoked = await this.#context.audit.before('token_revoked', asker, { target: shortened(id) }, () =>
      this.#change(id, (token) => ({ ...token, revokedAt: token.revokedAt ?? now })),
    );
    return shown(revoked, now);
  }

  /** A new secret under the same id; the one before stays valid for `overlapMs`. */
  async rotate(asker: Asker, id: string, overlapMs: number) {
    const now = this.#now;
    const { token, secret } = newToken(id);
    const rotate = (before: IssuedToken): IssuedToken => {
      if (statusOf(before, now) !== 'active')
        throw new NatterError('invalid', 'id: this token lets nobody in any more; make another one', { field: 'id' });
      const [current] = before.secrets;
      return { ...before, secrets: [secret, ...(overlapMs > 0 && current ? [{ ...current, until: now + overlapMs }] : [])] };
    };
    const rotated = await this.#context.audit.before('token_rotated', asker, { target: shortened(id) }, () =>
      this.#change(id, rotate),
    );
    return { token, ...shown(rotated, now) };
  }

  get #now(): number {
    return this.#context.ports.clock.now();
  }

  async #change(id: string, change: (token: IssuedToken) => IssuedToken): Promise<IssuedToken> {
    const { ports, callers } = this.#context;
    const changed = await ports.tokens.change(id, change);
    if (changed === null) throw noSuchToken();
    await callers.issued.refresh();
    return changed;
  }

  /** Removes what ended long ago. Throws `NatterError('overloaded')` where there are too many tokens still. */
  async #makeRoom(): Promise<void> {
    const { callers, ports } = this.#context;
    const all = [...callers.issued.all()];
    const old = all.filter((token) => endOf(token) + shownMs <= this.#now);
    for (const { id } of old) await ports.tokens.remove(id);
    if (all.length - old.length < limits.accessTokens) return;
    const message = `there are ${limits.accessTokens} tokens; one that is revoked makes room after 30 days`;
    throw new NatterError('overloaded', message);
  }
}
