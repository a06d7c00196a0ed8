import { seesAll } from '../../../shared/domain/access/access.ts';
import type { SessionRow, SessionsListParameters, SessionsListResult } from '../../../shared/domain/projections/schemas.ts';
import { listConfigFor, sessionRowOf } from '../../../shared/domain/projections/session-row.ts';
import type { IndexRow } from '../../../shared/domain/projections/summary.ts';
import { lastMessagesOf } from '../../../shared/runtime/session-tools/recent-messages.ts';
import type { Asker } from '../commands.ts';
import type { GatewayContext } from '../context.ts';
import type { ListOptions } from '../session-list.ts';

/** Filters of the gateway's own lists beside those of the tool. */
export type ListFilter = SessionsListParameters & Pick<ListOptions, 'cursor' | 'status' | 'channel' | 'keyPrefix'>;

/** `sessions_list` (A10/101–114): the sessions the caller may see, newest first. Reads no log unless messages are asked for. */
export const sessionsList = async (
  context: GatewayContext,
  asker: Asker,
  parameters: SessionsListParameters,
): Promise<SessionsListResult> => {
  const { sessions } = await listRows(context, asker, parameters);
  return { count: sessions.length, sessions: sessions.map(({ shown }) => shown) };
};

/** A page of the list: each row of the index and how it is shown. */
export const listRows = async (
  context: GatewayContext,
  asker: Asker,
  { activeMinutes, messageLimit, ...filter }: ListFilter,
): Promise<{ sessions: readonly { row: IndexRow; shown: SessionRow }[]; nextCursor: string | null }> => {
  const { sessions, access, config, ports } = context;
  const { rows, nextCursor } = sessions.list({
    ...filter,
    since: activeMinutes === undefined ? undefined : ports.clock.now() - activeMinutes * 60_000,
    withGlobal: config.session.scope === 'global',
    reach: access.reach(asker.principal),
  });
  const messages = messageLimit === 0 ? [] : await lastMessagesOf(ports, rows, messageLimit);
  const shown = listConfigFor(config, seesAll(asker.principal));
  return {
    sessions: rows.map((row, at) => ({ row, shown: sessionRowOf(row, shown, messages[at]) })),
    nextCursor,
  };
};
