import { randomBytes, randomInt } from 'node:crypto';
import { grantOfToken, type Reach } from '../../../shared/domain/access/access.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { IssuedToken, TokenSecret } from '../../../shared/ports/access/tokens.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import type { Caller } from '../commands/envelope.ts';
import { digestOf } from '../context/callers.ts';
import type { GatewayContext } from '../context/gateway-context.ts';

/** How long lists show a token that is no longer valid; after that it can be removed to make room. */
const shownMs = 30 * 86_400_000;

/** What a new token is to grant. */
export interface TokenGrant extends Reach {
  readonly label: string;
  readonly expiresAt?: number | undefined;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const newId = (): string => Array.from({ length: 12 }, () => letters[randomInt(letters.length)]).join('');

/** A token of 256 random bits under an id, shown once; only its digest is kept. */
const newToken = (id: string): { token: string; secret: TokenSecret } => {
  const token = `${id}.natter_${randomBytes(32).toString('base64url')}`;
  return { token, secret: { sha256: digestOf(token).toString('hex') } };
};

/** How long a token is kept once it has ended: those of pages are many. */
const keptMs = ({ parent }: IssuedToken): number => (parent ? 0 : shownMs);

const endOf = ({ revokedAt, expiresAt = Number.POSITIVE_INFINITY }: IssuedToken): number =>
  Math.min(revokedAt ?? expiresAt, expiresAt);
const statusOf = (token: IssuedToken, now: number): 'active' | 'expired' | 'revoked' => {
  if (token.revokedAt !== undefined) return 'revoked';
  return endOf(token) <= now ? 'expired' : 'active';
};

/** A token as administrators see it: never its digest. */
const shown = (token: IssuedToken, now: number) => {
  const { v: _, secrets, parent, deletedSeq: __, ...facts } = token;
  const oldUntil = secrets[1]?.until;
  return {
    ...facts,
    ...(parent && { parent: parent.actor }),
    status: statusOf(token, now),
    ...(oldUntil !== undefined && oldUntil > now && { oldSecretUntil: oldUntil }),
  };
};

/** An id as the audit trail records it, whatever the caller sent. */
const shortened = (id: string): string => (/^[a-z0-9]{1,64}$/.test(id) ? id : 'no id of a token');

const noSuchToken = (): NatterError =>
  new NatterError('not_found', 'id: there is no such token; list them. Those of the configuration are changed there', {
    field: 'id',
  });

/** Access tokens created at run time. A change takes effect here at once, and on other replicas within a second. */

/** All tokens, newest first, without those that ended long ago. */
export const listTokens = ({ callers, ports }: GatewayContext) => {
  const now = ports.clock.now();
  return [...callers.issued.all()]
    .filter((token) => endOf(token) + shownMs > now)
    .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1))
    .map((token) => shown(token, now));
};

/** The limit of a viewer's token: a session that is there now, and none that is begun under its key later. Throws `noSuchSession()`. */
const sessionOf = async ({ access, config }: GatewayContext, { principal }: Caller, sessionKey: string) => {
  const { row } = await access.read(principal, keyFrom(config, sessionKey));
  return { sessionKey: row.key, deletedSeq: row.deletedSeq };
};

/** Throws `NatterError('invalid')` that names the field of a token that would see too much or nothing. */
export const createToken = async (
  context: GatewayContext,
  caller: Caller,
  wanted: TokenGrant,
  derived: Pick<IssuedToken, 'parent'> = {},
) => {
  const { callers, config, ports, audit } = context;
  const { role, principal, namespace, sessionKey, label, expiresAt } = wanted;
  const now = ports.clock.now();
  const grant = grantOfToken(wanted, config.session.identityLinks);
  if ('problem' in grant) throw new NatterError('invalid', `${grant.field}: ${grant.problem}`, { field: grant.field });
  if (expiresAt !== undefined && expiresAt <= now)
    throw new NatterError('invalid', `expiresAt: ${new Date(expiresAt).toISOString()} is in the past; give a later time`, {
      field: 'expiresAt',
    });
  const session = sessionKey === undefined ? undefined : await sessionOf(context, caller, sessionKey);
  await removeOldTokens(context);
  const id = newId();
  const { token, secret } = newToken(id);
  const reach = {
    role,
    ...(principal !== undefined && { principal }),
    ...(namespace !== undefined && { namespace }),
    ...(session && { sessionKey: session.sessionKey }),
  };
  const made: IssuedToken = {
    ...{ v: 1, id, ...reach, ...session, label, createdAt: now, createdBy: caller.actor, secrets: [secret] },
    ...(expiresAt !== undefined && { expiresAt }),
    ...derived,
  };
  await audit.before('token_created', caller, { target: id, detail: reach }, async () => {
    if (!(await ports.tokens.add(made))) throw new NatterError('unavailable', 'this id is taken; try again');
  });
  await callers.issued.refresh();
  const { publicUrl } = config.gateway;
  return { token, ...shown(made, now), ...(session && publicUrl !== undefined && { publicUrl }) };
};

export const revokeToken = async (context: GatewayContext, caller: Caller, id: string) => {
  const now = context.ports.clock.now();
  const revoked = await context.audit.before('token_revoked', caller, { target: shortened(id) }, () =>
    changeToken(context, id, (token) => ({ ...token, revokedAt: token.revokedAt ?? now })),
  );
  return shown(revoked, now);
};

/** Makes a new secret under the same id; the one before stays valid for `overlapMs`. */
export const rotateToken = async (context: GatewayContext, caller: Caller, id: string, overlapMs: number) => {
  const now = context.ports.clock.now();
  const { token, secret } = newToken(id);
  const rotate = (before: IssuedToken): IssuedToken => {
    if (statusOf(before, now) !== 'active')
      throw new NatterError('invalid', 'id: this token lets nobody in any more; make another one', { field: 'id' });
    const [current] = before.secrets;
    return { ...before, secrets: [secret, ...(overlapMs > 0 && current ? [{ ...current, until: now + overlapMs }] : [])] };
  };
  const rotated = await context.audit.before('token_rotated', caller, { target: shortened(id) }, () =>
    changeToken(context, id, rotate),
  );
  return { token, ...shown(rotated, now) };
};

const changeToken = async (
  { ports, callers }: GatewayContext,
  id: string,
  change: (token: IssuedToken) => IssuedToken,
): Promise<IssuedToken> => {
  const changed = await ports.tokens.change(id, change);
  if (changed === null) throw noSuchToken();
  await callers.issued.refresh();
  return changed;
};

/** Removes tokens that ended long ago. Throws `NatterError('overloaded')` if there are still too many. */
const removeOldTokens = async ({ callers, ports }: GatewayContext): Promise<void> => {
  const all = [...callers.issued.all()];
  const old = all.filter((token) => endOf(token) + keptMs(token) <= ports.clock.now());
  for (const { id } of old) await ports.tokens.remove(id);
  if (all.length - old.length < limits.accessTokens) return;
  const message = `there are ${limits.accessTokens} tokens; one that is revoked makes room after 30 days`;
  throw new NatterError('overloaded', message);
};
