import type { FastifyRequest } from 'fastify';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { keyFrom } from '../../shared/runtime/session-tools/named-session.ts';
import { ownersOnly } from './access.ts';
import type { GatewayContext } from './context.ts';
import { ownKey } from './own-key.ts';

/**
 * The session that a user interface names: with a session key, full or short, or with a word of its own, such as a random id, which is a
 * session of this token's, `agent:<agentId>:api:chat-…`. To begin those is the owner's. Whether the caller may write there is for others to
 * ask. Throws `NatterError('invalid')` that names the field, and `'forbidden'`.
 */
export const chatKey = (
  { config }: GatewayContext,
  { principal, actor }: Pick<FastifyRequest, 'principal' | 'actor'>,
  name: string,
  field: string,
): SessionKey => {
  if (name === 'main' || name.includes(':')) return keyFrom(config, name, field);
  ownersOnly(principal, `a conversation whose "${field}" is no session key`);
  return ownKey(config.agent.id, 'chat', actor, name);
};
