import { loweredReach, roleOf } from '../../../shared/domain/access/lowered-reach.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Caller } from '../commands/envelope.ts';
import type { TokenBearer } from '../context/callers.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { CodeBearer } from '../context/login-codes.ts';
import { createToken, revokeToken } from '../tokens/tokens.ts';

/** How long a page stays signed in. */
const pageMs = 12 * 3_600_000;

/** Signs a page in: a token of its own, listed, revocable, and valid no longer than the one that it was made with. */
export const signIn = async (context: GatewayContext, caller: Caller, { parent, role }: CodeBearer) => {
  const reach = loweredReach(parent.principal, role);
  if (reach === null)
    throw new NatterError('unauthorized', 'the token behind this code may do less now; run "natter open" again');
  const expiresAt = context.ports.clock.now() + pageMs;
  const derived = { parent: { actor: parent.actor, sha256: parent.digest.toString('hex') } };
  return createToken(context, { ...caller, actor: parent.actor }, { ...reach, label: 'page', expiresAt }, derived);
};

/** Who calls, as the page shows it. Times in ms. */
export const describeCaller = (
  { callers, config }: GatewayContext,
  { actor, principal }: Pick<TokenBearer, 'actor' | 'principal'>,
) => {
  const token = callers.issuedTo(actor);
  const { role: _, ...limitsOf } = loweredReach(principal) ?? { role: '' };
  return {
    actor,
    role: roleOf(principal),
    ...limitsOf,
    ...(principal.role === 'viewer' && { sessionKey: principal.sessionKey }),
    isPage: token?.parent !== undefined,
    agentId: config.agent.id,
    mainKey: `agent:${config.agent.id}:${config.session.mainKey}`,
    attachments: config.attachments,
    ...(token?.parent && { signedInBy: token.parent.actor }),
    ...(token?.expiresAt !== undefined && { expiresAt: token.expiresAt }),
  };
};

/** Ends the page's own token. Throws `NatterError('invalid')` for any other. */
export const signOut = async (context: GatewayContext, caller: Caller) => {
  const token = context.callers.issuedTo(caller.actor);
  if (token?.parent === undefined)
    throw new NatterError('invalid', 'only a page signs out; forget this token, or have it revoked with "natter token revoke"');
  const { id } = await revokeToken(context, caller, token.id);
  return { id, status: 'revoked' as const };
};
