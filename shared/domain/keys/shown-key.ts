import { parseKey, type SessionKey } from './session-key.ts';

/** A key as callers see it: the agent's main and global sessions are `main` (A3/40, A10/103, C2). Other agents' keys stay as they are. */
export const shownKey = (key: SessionKey, mainKey: string, agentId: string): string => {
  const { kind, agentId: of } = parseKey(key, mainKey);
  return of === agentId && (kind === 'main' || kind === 'global') ? 'main' : key;
};
