import type { SessionKey } from '../domain/keys/session-key.ts';
import type { IndexRow } from '../domain/projections/index-row.ts';
import type { RecordedCommit } from '../domain/session/envelope.ts';

/** The session index: one row per key, a projection of the log (A11: "a map sessionKey → { sessionId, updatedAt, … }"). */
export interface SessionIndex {
  get(key: SessionKey): Promise<IndexRow | null>;
  /** Writes rows and then the position they reflect. A row never goes back to an older `seq`. */
  put(rows: readonly IndexRow[], position: number): Promise<void>;
  /** Sequence of the log up to which the index is current; 0 if it is empty. */
  position(): Promise<number>;
  /**
   * Keeps a copy of all rows in memory until closed; it lags by at most two seconds, or six with hundreds of changes
   * per second, unless its owner folds commits in.
   */
  watch(marks?: Partial<RowMarks>): Promise<IndexView>;
}

/** What a reader's filters depend on; called once for each row that arrives. */
export interface RowMarks {
  /** A short text that is equal for rows that the filters treat alike. There should be few different ones. */
  facetOf(row: IndexRow): string;
  /** Names of the groups that the row belongs to. There may be many. */
  groupsOf(row: IndexRow): readonly string[];
}

export interface IndexView {
  /** Folds a commit into its session's row, so that the copy is as fresh as the reader of the log; one that does not follow on the row is left to the index. */
  take(commit: RecordedCommit): void;
  get(key: SessionKey): IndexRow | undefined;
  rows(): Iterable<IndexRow>;
  /** Most recently updated first; the key decides between equals. Iterate without awaiting in between. */
  newestFirst(filter?: RowFilter): Iterable<IndexRow>;
  close(): Promise<void>;
}

/** The position of a row in this order. */
export type RowPlace = Pick<IndexRow, 'updatedAt' | 'key'>;

export interface RowFilter {
  /** Starts after this place. */
  readonly after?: RowPlace | undefined;
  /** Which facets to include; called once for each. Default: all. */
  readonly facet?: (facet: string) => boolean;
  /** Only rows in at least one of these groups. Default: all. */
  readonly groups?: readonly string[] | undefined;
}
