import type { SessionKey } from '../keys/session-key.ts';

/** The session whose log records what people change of an agent's memory. Nobody talks in it. `agentId`: empty for all agents. */
export const memorySessionOf = (agentId: string): SessionKey =>
  (agentId === '' ? 'memory' : `agent:${agentId}:memory`) as SessionKey;

/** Whether a key is that of an agent's memory session. */
export const isMemorySession = (key: string): boolean => /^(?:agent:[^:]+:)?memory$/.test(key);
