import { hasCode } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { IndexRow } from '../../../shared/session/summary.ts';
import { recentMessages } from '../../../shared/session-tools/recent-messages.ts';
import { sessionRowOf } from '../../../shared/session-tools/row.ts';
import type {
  SessionRow,
  SessionsListParameters,
  SessionsListResult,
  TranscriptMessage,
} from '../../../shared/session-tools/schemas.ts';
import type { Asker } from '../commands.ts';
import type { GatewayContext } from '../context.ts';
import type { ListOptions } from '../session-list.ts';

/** Histories read side by side. */
const readsAtOnce = 8;

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
  const messages = messageLimit === 0 ? [] : await messagesOf(context, rows, messageLimit);
  // Where files are on the host is the owner's to know.
  const { agent, session } = config;
  const shown = asker.principal.role === 'owner' ? config : { agent, session: { ...session, store: undefined } };
  return {
    sessions: rows.map((row, at) => ({ row, shown: sessionRowOf(row, shown, messages[at]) })),
    nextCursor,
  };
};

/** The last messages of each session, without tool results (A10/102). One that cannot be read has none: the others are shown. */
const messagesOf = async (
  { ports }: GatewayContext,
  rows: readonly IndexRow[],
  limit: number,
): Promise<readonly TranscriptMessage[][]> => {
  const characters = Math.floor(limits.toolCharacters / Math.max(1, rows.length));
  const found: TranscriptMessage[][] = rows.map(() => []);
  const rest = rows.entries();
  const read = async (): Promise<void> => {
    for (const [at, { key, seq }] of rest) {
      try {
        found[at] = [...(await recentMessages(ports, { key, through: seq, limit, characters, includeTools: false }))];
      } catch (error) {
        if (!hasCode(error, 'quarantined')) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, read));
  return found;
};
