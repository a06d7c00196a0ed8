import { createHash } from 'node:crypto';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';

/**
 * The session of a program that names it in words of its own, such as a user, or a chat's id: the same words are the same session. `door` says
 * by which protocol. 128 bits: the ids of runs say which session they are of where its key is short.
 */
export const ownKey = (agentId: string, door: string, ...words: string[]): SessionKey => {
  const hash = createHash('sha256').update(JSON.stringify(words)).digest().subarray(0, 16).toString('base64url');
  return `agent:${agentId}:api:${door}-${hash}` as SessionKey;
};
