import { seesAll } from '../../../shared/domain/access/access.ts';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { keyContextOf } from '../../../shared/domain/keys/legacy-key.ts';
import { parseKey } from '../../../shared/domain/keys/session-key.ts';
import { listedKey, shortKey } from '../../../shared/domain/keys/shown-key.ts';
import { type IndexRow, pendingIn } from '../../../shared/domain/projections/index-row.ts';
import type { SessionRow, SessionsListParameters } from '../../../shared/domain/projections/schemas.ts';
import { listConfigFor, sessionRowOf } from '../../../shared/domain/projections/session-row.ts';
import { lastMessagesOf } from '../../../shared/runtime/session-tools/recent-messages.ts';
import type { ListOptions, SessionPage } from '../context/session-list.ts';
import { queueModeOf } from '../messages/command-from-text.ts';
import type { Call } from '../operation/operation.ts';
import { unreadFor } from './mark-read.ts';

/** Filters of the gateway's own lists beside those of the tool. */
export type ListFilter = Omit<SessionsListParameters, 'messageLimit'> &
  Pick<ListOptions, 'cursor' | 'status' | 'channel' | 'keyPrefix' | 'search' | 'label' | 'pinned' | 'failed'> & {
    /** Only those that the caller has not seen, or only others. */
    readonly unread?: boolean | undefined;
  };

/** A page of the sessions that the caller may see, newest first. Reads no log. */
export const listRows = async (
  { context, caller }: Call,
  { activeMinutes, unread, ...filter }: ListFilter,
): Promise<SessionPage> => {
  const { sessions, access, ports, config } = context;
  const withGlobal = config.session.scope === 'global';
  const since = activeMinutes === undefined ? undefined : ports.clock.now() - activeMinutes * 60_000;
  const reach = access.reach(caller.principal);
  if (unread === undefined) return sessions.list({ ...filter, since, withGlobal, reach });
  const isUnread = await unreadFor(context, caller);
  const sees = (row: IndexRow): boolean => unread === isUnread(row) && reach.sees(row);
  return sessions.list({ ...filter, since, withGlobal, reach: { ...reach, sees } });
};

/** Each row as the tool `sessions_list` shows it (A10/101–114). Reads the log only where messages are asked for. */
export const shownRows = async (
  { context: { config, ports }, caller: { principal } }: Call,
  rows: readonly IndexRow[],
  messageLimit = 0,
): Promise<readonly { row: IndexRow; shown: SessionRow }[]> => {
  const messages = messageLimit === 0 ? [] : await lastMessagesOf(ports, rows, messageLimit);
  const shown = listConfigFor(config, seesAll(principal));
  return rows.map((row, at) => ({ row, shown: sessionRowOf(row, shown, messages[at]) }));
};

/** How callers name a session. To programs too the session `global` has no name of its own (A3/40). */
export const keysOf = ({ key }: Pick<IndexRow, 'key'>, config: Config) => {
  const short = shortKey(key, keyContextOf(config));
  return { key: parseKey(key).kind === 'global' ? short : listedKey(key, keyContextOf(config)), shownKey: short };
};

/** What a row of the index does not have: how callers name the session, and its queue mode. */
export const namesOf = (row: IndexRow, config: Config) => ({
  ...keysOf(row, config),
  queueMode: queueModeOf(row, config.session),
});

/**
 * A row for user interfaces: that of the tool, under the key it is stored by, with what else people want to see (A1/3, A2/13–14, 17).
 */
export const wideRow = ({ row, shown }: { row: IndexRow; shown: SessionRow }, config: Config) => {
  const { status, generation, source, createdAt, interactedAt, inputTokens, outputTokens, origin } = row;
  const { messageCount, completedTurns, failedTurns, queuedTurns, lastMessagePreview, participants, costUsd } = row;
  const { description, descriptionSource, workingMemory, introspectedAt } = row;
  const { subject, room, space } = origin;
  return {
    ...shown,
    ...namesOf(row, config),
    ...{ status, generation, source, createdAt, interactedAt, inputTokens, outputTokens },
    ...{ messageCount, completedTurns, failedTurns, queuedTurns, lastMessagePreview, participants },
    ...{ description, descriptionSource, workingMemory, introspectedAt },
    ...{ origin, subject, room, space, approval: pendingIn(row)[0] ?? null, costUsd },
  };
};
