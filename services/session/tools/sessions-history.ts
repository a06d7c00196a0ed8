import { keyContextOf } from '../../../shared/domain/keys/legacy-key.ts';
import { shownKey } from '../../../shared/domain/keys/shown-key.ts';
import { type SessionsHistoryResult, sessionsHistoryParameters } from '../../../shared/domain/projections/schemas.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import type { Tool } from '../../../shared/ports/tools.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { recentMessages } from '../../../shared/runtime/session-tools/recent-messages.ts';
import { defineTool } from './define.ts';
import { messageCharacters } from './sessions-list.ts';
import { reachedRow, type SessionToolsOptions } from './sessions-reach.ts';

/** `sessions_history` (A10/115–116): the last messages of a session that the turn can reach. */
export const sessionsHistoryTool = (options: SessionToolsOptions): Tool =>
  defineTool({
    name: 'sessions_history',
    description: 'Reads the last messages of a conversation, oldest first, as JSON.',
    input: sessionsHistoryParameters,
    idempotent: true,
    readsOnly: true,
    usual: 'allow',
    line: ({ sessionKey }) => `read the session ${quoted(sessionKey)}`,
    act: async ({ sessionKey, limit, includeTools }, { scope }) => {
      const { config, ports } = options;
      const { key, seq, sessionId } = await reachedRow(options, scope, keyFrom(config, sessionKey));
      const wanted = { key, through: seq, limit, includeTools, characters: messageCharacters };
      const messages = [...(await recentMessages(ports, wanted))];
      const result: SessionsHistoryResult = {
        sessionKey: shownKey(key, keyContextOf(config)),
        sessionId,
        messages,
      };
      return JSON.stringify(result);
    },
  });
