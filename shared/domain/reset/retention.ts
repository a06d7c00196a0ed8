import type { Config } from '../config/schema.ts';
import { parseKey } from '../keys/session-key.ts';
import type { IndexRow } from '../projections/index-row.ts';

/** Which sessions retention removes (B1, B2, D10). Pure; times in ms. */

type Session = Pick<Config['session'], 'mainKey' | 'maintenance'>;

/** Why a session is due: a stateless call made it; its age; there are too many; they take too many bytes. */
export type RetentionRule = 'stateless' | 'age' | 'count' | 'bytes';

export interface DueSession {
  readonly row: IndexRow;
  readonly rule: RetentionRule;
}
/** A session whose history may go for good. `deleted`: nothing but its history is left. */
export interface ErasableSession {
  readonly row: IndexRow;
  readonly rule: RetentionRule | 'deleted';
}

const minuteMs = 60_000;
const dayMinutes = 24 * 60;

/** The setting behind a rule. */
export const retentionSettings: Readonly<Record<ErasableSession['rule'], string>> = {
  stateless: 'session.maintenance.statelessIdleMinutes',
  age: 'session.maintenance.pruneAfterDays',
  count: 'session.maintenance.maxSessions',
  bytes: 'session.maintenance.maxLogMegabytes',
  deleted: 'session.maintenance.pruneAfterDays (deleted)',
};

/** Bytes in the log: of the sessions that there are, of deleted ones, and how many sessions' bytes are not known. */
export interface LogBytes {
  readonly live: number;
  readonly deleted: number;
  readonly unknown: number;
}

/**
 * Sessions that stay whatever the settings say: the main and the global one, groups (A8/88), and those where something runs,
 * waits or awaits an approval.
 */
const stays = (row: IndexRow, mainKey: string): boolean => {
  const { kind } = parseKey(row.key, mainKey);
  const isBusy =
    row.status === 'running' || row.status === 'awaiting_approval' || row.status === 'awaiting_results' || row.queuedTurns > 0;
  return isBusy || ['main', 'global', 'group', 'channel'].includes(kind);
};

/** Made for one call of the OpenAI-compatible interface that named no session, and not named by a person since. */
const isStateless = ({ key, settings }: IndexRow): boolean =>
  /^agent:[^:]+:api:openai-[\w-]{22}$/.test(key) && settings.displayName === undefined && settings.description === undefined;

const isUnused = ({ interactedAt }: IndexRow, minutes: number, now: number): boolean => now - interactedAt >= minutes * minuteMs;
const bytesOf = (rows: readonly IndexRow[]): number => rows.reduce((sum, { logBytes = 0 }) => sum + logBytes, 0);

/** What the rows say about the log. */
export const logBytesOf = (rows: Iterable<IndexRow>): LogBytes => {
  const all = [...rows];
  return {
    live: bytesOf(all.filter(({ deleted }) => !deleted)),
    deleted: bytesOf(all.filter(({ deleted }) => deleted)),
    unknown: all.filter(({ logBytes }) => logBytes === undefined).length,
  };
};

/** The first of `rows` that must go before `bytes` are no more than allowed. One whose bytes are not known would not help. */
const overBytes = (rows: readonly IndexRow[], bytes: number, { maxLogMegabytes = Infinity }: Session['maintenance']) => {
  let left = bytes;
  return rows.filter(({ logBytes = 0 }) => {
    const goes = left > maxLogMegabytes * 1_000_000 && logBytes > 0;
    left -= goes ? logBytes : 0;
    return goes;
  });
};

/** What time and number have due, and what else may go, those unused for longest first. */
const dueByUse = (live: readonly IndexRow[], { mainKey, maintenance }: Session, now: number) => {
  const { pruneAfterDays, maxSessions, keepRecentHours, statelessIdleMinutes } = maintenance;
  const idle = live.filter((row) => !stays(row, mainKey)).sort((one, other) => one.interactedAt - other.interactedAt);
  const old = idle.flatMap((row): DueSession[] => {
    if (statelessIdleMinutes > 0 && isStateless(row) && isUnused(row, statelessIdleMinutes, now))
      return [{ row, rule: 'stateless' }];
    return isUnused(row, pruneAfterDays * dayMinutes, now) ? [{ row, rule: 'age' }] : [];
  });
  const excess = maxSessions === undefined ? 0 : Math.max(0, live.length - old.length - maxSessions);
  const others = idle.filter((row) => isUnused(row, keepRecentHours * 60, now) && !old.some((due) => due.row === row));
  const many = others.slice(0, excess).map((row): DueSession => ({ row, rule: 'count' }));
  return { due: [...old, ...many], others: others.slice(excess) };
};

/** The sessions that are due at `now`, those unused for longest first. Idle time counts from the last interaction (B11). */
export const dueSessions = (rows: Iterable<IndexRow>, session: Session, now: number): DueSession[] => {
  const live = [...rows].filter((row) => !row.deleted && row.generation > 0);
  const { due, others } = dueByUse(live, session, now);
  const bytes = bytesOf(live) - bytesOf(due.map(({ row }) => row));
  return [...due, ...overBytes(others, bytes, session.maintenance).map((row): DueSession => ({ row, rule: 'bytes' }))];
};

/**
 * The sessions that may be erased at `now`: those that are due, and the history of those that were deleted as long ago as a session is kept
 * unused. If the log is still too large, more deleted ones, and only then more of the others.
 */
export const erasableSessions = (rows: Iterable<IndexRow>, session: Session, now: number): ErasableSession[] => {
  const all = [...rows];
  const live = all.filter((row) => !row.deleted && row.generation > 0);
  const deleted = all
    .filter((row) => row.deleted && (row.logBytes ?? 0) > 0)
    .sort((one, other) => one.updatedAt - other.updatedAt);
  const { due, others } = dueByUse(live, session, now);
  const isOld = ({ updatedAt }: IndexRow): boolean =>
    now - updatedAt >= session.maintenance.pruneAfterDays * dayMinutes * minuteMs;
  const gone: ErasableSession[] = [...due, ...deleted.filter(isOld).map((row) => ({ row, rule: 'deleted' as const }))];
  const bytes = bytesOf(all) - bytesOf(gone.map(({ row }) => row));
  const more = overBytes([...deleted.filter((row) => !isOld(row)), ...others], bytes, session.maintenance);
  return [...gone, ...more.map((row) => ({ row, rule: 'bytes' as const }))];
};

/** Those that are removed without anybody asking: of a stateless call always, others in mode `enforce`. */
export const removedSessions = (due: readonly DueSession[], { mode }: Session['maintenance']): readonly DueSession[] =>
  mode === 'enforce' ? due : due.filter(({ rule }) => rule === 'stateless');
