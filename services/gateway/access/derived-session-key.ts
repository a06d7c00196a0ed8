import { createHash } from 'node:crypto';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';

/**
 * The session that a program names by words of its own, such as a user or a chat id: the same words are the same session. `protocol` is part
 * of the key. The hash has 128 bits: run ids contain the session key where that is short.
 */
export const derivedSessionKey = (agentId: string, protocol: string, ...words: string[]): SessionKey => {
  const hash = createHash('sha256').update(JSON.stringify(words)).digest().subarray(0, 16).toString('base64url');
  return `agent:${agentId}:api:${protocol}-${hash}` as SessionKey;
};
