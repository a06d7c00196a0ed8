import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import {
  type SessionsListParameters,
  type SessionsListResult,
  sessionsListParameters,
} from '../../../shared/domain/projections/schemas.ts';
import { listConfigFor, listFactsOf, sessionRowOf } from '../../../shared/domain/projections/session-row.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Tool, ToolScope } from '../../../shared/ports/tools.ts';
import { lastMessagesOf } from '../../../shared/runtime/session-tools/recent-messages.ts';
import { defineTool } from './define.ts';
import { reachOf, type SessionToolsOptions } from './sessions-reach.ts';

/** Characters of messages in one result. With the JSON around them they stay within the limit of a tool's output. */
export const messageCharacters = limits.toolOutputBytes / 4;

/** `sessions_list` (A10/101–114): the sessions that the turn can reach, newest first. */
export const sessionsListTool = (options: SessionToolsOptions): Tool =>
  defineTool({
    name: 'sessions_list',
    description: 'Lists conversations that you may look at, newest first, as JSON.',
    input: sessionsListParameters,
    idempotent: true,
    readsOnly: true,
    usual: 'allow',
    line: () => 'list sessions',
    act: async (parameters, { scope }) => JSON.stringify(await list(options, scope, parameters)),
  });

const list = async (
  options: SessionToolsOptions,
  scope: ToolScope,
  parameters: SessionsListParameters,
): Promise<SessionsListResult> => {
  const { config, ports } = options;
  const { messageLimit } = parameters;
  const rows = rowsOf(options, scope, parameters);
  const messages = messageLimit === 0 ? [] : await lastMessagesOf(ports, rows, messageLimit, messageCharacters);
  const shown = listConfigFor(config, scope.sender.role === 'owner');
  return { count: rows.length, sessions: rows.map((row, at) => sessionRowOf(row, shown, messages[at])) };
};

const rowsOf = (
  { config, ports, view }: SessionToolsOptions,
  scope: ToolScope,
  { kinds, limit, activeMinutes }: SessionsListParameters,
): IndexRow[] => {
  const since = activeMinutes === undefined ? 0 : ports.clock.now() - activeMinutes * 60_000;
  const reaches = reachOf(config, scope);
  const rows: IndexRow[] = [];
  for (const row of view.newestFirst()) {
    if (row.updatedAt < since || rows.length === limit) break;
    if (row.status === 'inactive' || !reaches(row)) continue;
    const { kind, internal } = listFactsOf(row, config.session.mainKey);
    const isHidden = internal !== null && !(internal === 'global' && config.session.scope === 'global');
    if (!isHidden && kinds?.includes(kind) !== false) rows.push(row);
  }
  return rows;
};
