import type { FastifyRequest } from 'fastify';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { ownersOnly } from '../context/access.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { derivedSessionKey } from './derived-session-key.ts';

/**
 * The session that a user interface names: by a session key, full or short, or by an id of its own, which means a session of this token,
 * `agent:<agentId>:api:chat-…`. Only the owner may start those. This does not check whether the caller may write there. Throws
 * `NatterError('invalid')` that names the field, and `'forbidden'`.
 */
export const chatKey = (
  { config }: GatewayContext,
  { principal, actor }: Pick<FastifyRequest, 'principal' | 'actor'>,
  name: string,
  field: string,
): SessionKey => {
  if (name === 'main' || name.includes(':')) return keyFrom(config, name, field);
  ownersOnly(principal, `a conversation whose "${field}" is no session key`);
  return derivedSessionKey(config.agent.id, 'chat', actor, name);
};
