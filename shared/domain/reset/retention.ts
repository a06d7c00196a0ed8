import type { Config } from '../config/schema.ts';
import { parseKey } from '../keys/session-key.ts';
import type { IndexRow } from '../projections/index-row.ts';

/** Which sessions retention removes (B1, B2, D10). Pure; times in ms. */

type Session = Pick<Config['session'], 'mainKey' | 'maintenance'>;

/** Why a session is due: a stateless call made it; its age; there are too many. */
export type RetentionRule = 'stateless' | 'age' | 'count';

export interface DueSession {
  readonly row: IndexRow;
  readonly rule: RetentionRule;
}

const minuteMs = 60_000;

/** The setting behind a rule. */
export const retentionSettings: Readonly<Record<RetentionRule, string>> = {
  stateless: 'session.maintenance.statelessIdleMinutes',
  age: 'session.maintenance.pruneAfterDays',
  count: 'session.maintenance.maxSessions',
};

/**
 * Sessions that stay whatever the settings say: the main and the global one, groups (A8/88), and those where something runs,
 * waits or awaits an approval.
 */
const stays = (row: IndexRow, mainKey: string): boolean => {
  const { kind } = parseKey(row.key, mainKey);
  const isBusy = row.status === 'running' || row.status === 'awaiting_approval' || row.queuedTurns > 0;
  return isBusy || ['main', 'global', 'group', 'channel'].includes(kind);
};

/** Made for one call of the OpenAI-compatible interface that named no session, and not named by a person since. */
const isStateless = ({ key, settings }: IndexRow): boolean =>
  /^agent:[^:]+:api:openai-[\w-]{22}$/.test(key) && settings.displayName === undefined && settings.description === undefined;

/** The sessions that are due at `now`, those unused for longest first. Idle time counts from the last interaction (B11). */
export const dueSessions = (rows: Iterable<IndexRow>, { mainKey, maintenance }: Session, now: number): DueSession[] => {
  const { pruneAfterDays, maxSessions, keepRecentHours, statelessIdleMinutes } = maintenance;
  const live = [...rows].filter((row) => !row.deleted && row.generation > 0);
  const idle = live.filter((row) => !stays(row, mainKey)).sort((one, other) => one.interactedAt - other.interactedAt);
  const isUnused = ({ interactedAt }: IndexRow, minutes: number): boolean => now - interactedAt >= minutes * minuteMs;

  const old = idle.flatMap((row): DueSession[] => {
    if (statelessIdleMinutes > 0 && isStateless(row) && isUnused(row, statelessIdleMinutes)) return [{ row, rule: 'stateless' }];
    return isUnused(row, pruneAfterDays * 24 * 60) ? [{ row, rule: 'age' }] : [];
  });
  const excess = maxSessions === undefined ? 0 : Math.max(0, live.length - old.length - maxSessions);
  const others = idle.filter((row) => isUnused(row, keepRecentHours * 60) && !old.some((due) => due.row === row));
  return [...old, ...others.slice(0, excess).map((row): DueSession => ({ row, rule: 'count' }))];
};

/** Those that are removed without anybody asking: of a stateless call always, others in mode `enforce`. */
export const removedSessions = (due: readonly DueSession[], { mode }: Session['maintenance']): readonly DueSession[] =>
  mode === 'enforce' ? due : due.filter(({ rule }) => rule === 'stateless');
