import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import { isErasure } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { isUnreadable } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { SessionIndex } from '../../../shared/ports/session-index.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';

export interface ProjectionOptions {
  readonly index: Pick<SessionIndex, 'get' | 'put'>;
  readonly events: EventLog;
  readonly clock: Clock;
  /** Sequence of the log that the index reflects. */
  readonly after: number;
}

/** Whether this version wrote a row, with all that it has of a session. */
const isWhole = ({ logBytes, firstWords }: IndexRow): boolean => logBytes !== undefined && firstWords !== undefined;

/** The projection behind the session index: folds commits in memory and writes changed rows in batches (A2/17). */
export const createProjection = ({ index, events, clock, after }: ProjectionOptions) => {
  const rows = new LRUCache<SessionKey, IndexRow>({ max: limits.indexCachedRows });
  let changed = new Map<SessionKey, IndexRow>();
  let position = after;
  let written = after;

  /**
   * The row before `commit`. If the stored row does not connect to it (a stale read, or not written yet), or an older version wrote it
   * without its size or its first words, the row is folded from the log instead. It does not connect either where the log has lost commits (F13), which must not block the rows of others.
   */
  const rowBefore = async (commit: RecordedCommit): Promise<IndexRow | null> => {
    if (commit.rev === 1 || isErasure(commit)) return null;
    const row = await index.get(commit.key);
    if (row !== null && ((row.rev === commit.rev - 1 && isWhole(row)) || row.seq >= commit.seq)) return row;
    const folded = await rowFromLog(commit);
    return row !== null && row.seq > (folded?.seq ?? 0) ? row : folded;
  };

  /** The fold of everything before `commit` that can be read. Throws `unavailable` if a replica does not even have `commit` yet. */
  const rowFromLog = async ({ key, seq }: RecordedCommit): Promise<IndexRow | null> => {
    let row: IndexRow | null = null;
    try {
      for await (const earlier of readThrough({ events, clock }, key, { after: 0, through: seq })) {
        if (earlier.seq >= seq) break;
        row = summarize(row, earlier);
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
    return row;
  };

  return {
    /** Folds one commit, in log order. Returns a promise only when the row is not cached. */
    fold: (commit: RecordedCommit): Promise<void> | undefined => {
      const take = (before: IndexRow | null) => {
        const row = summarize(before, commit);
        rows.set(commit.key, row);
        changed.set(commit.key, row);
        position = commit.seq;
      };
      const row = rows.get(commit.key);
      if (row === undefined) return rowBefore(commit).then(take);
      take(row);
      return undefined;
    },
    /** Writes the changed rows, and the position they reflect. After a failure this projection must be discarded. */
    flush: async (): Promise<void> => {
      const reached = position;
      const batch = [...changed.values()];
      changed = new Map();
      await index.put(batch, reached);
      written = reached;
    },
    /** Sequence folded, and sequence written. */
    position: () => position,
    written: () => written,
    isDirty: () => position > written,
    dirtyRows: () => changed.size,
  };
};
export type Projection = ReturnType<typeof createProjection>;
