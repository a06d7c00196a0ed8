import { keyContextOf } from '../../../shared/domain/keys/legacy-key.ts';
import { shownKey } from '../../../shared/domain/keys/shown-key.ts';
import type { SessionsHistoryParameters, SessionsHistoryResult } from '../../../shared/domain/projections/schemas.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { recentMessages } from '../../../shared/runtime/session-tools/recent-messages.ts';
import type { Call } from '../operation/operation.ts';

/** `sessions_history` (A10/115–116): the last messages of a session's present generation, as transcripts have them. */
export const sessionsHistory = async (
  { context: { ports, access, config }, caller }: Call,
  { sessionKey, limit, includeTools }: SessionsHistoryParameters,
): Promise<SessionsHistoryResult> => {
  const key = keyFrom(config, sessionKey);
  const { row } = await access.read(caller.principal, key);
  const wanted = { key, through: row.seq, limit, includeTools, characters: limits.toolCharacters };
  const messages = await recentMessages(ports, wanted);
  return {
    sessionKey: shownKey(key, keyContextOf(config)),
    sessionId: row.sessionId,
    messages: [...messages],
  };
};
