import type { SessionKey } from '../domain/keys/session-key.ts';
import type { IndexRow } from '../domain/projections/summary.ts';

/** The session index: one row per key, a projection of the log (A11: "a map sessionKey → { sessionId, updatedAt, … }"). */
export interface SessionIndex {
  get(key: SessionKey): Promise<IndexRow | null>;
  /** Writes rows and then the position they reflect. A row never goes back to an older `seq`. */
  put(rows: readonly IndexRow[], position: number): Promise<void>;
  /** Sequence up to which the index reflects the log; 0 if it is empty. */
  position(): Promise<number>;
  /** Keeps a copy of all rows in memory until closed: current within a second, within three when a thousand sessions change every second. */
  watch(marks?: Partial<RowMarks>): Promise<IndexView>;
}

/** What a reader's filters go by; asked once for each row that comes. */
export interface RowMarks {
  /** Rows that are alike to the filters have one facet, a short text, and there should be few of them. */
  facetOf(row: IndexRow): string;
  /** Names of what the row belongs to, of which there may be many. */
  groupsOf(row: IndexRow): readonly string[];
}

export interface IndexView {
  get(key: SessionKey): IndexRow | undefined;
  rows(): Iterable<IndexRow>;
  /** The rows updated last first; the key decides between equals. Read it at one stretch. */
  newestFirst(filter?: RowFilter): Iterable<IndexRow>;
  close(): Promise<void>;
}

/** Where a row stands among those updated before and after it. */
export type RowPlace = Pick<IndexRow, 'updatedAt' | 'key'>;

export interface RowFilter {
  /** Begins after this place. */
  readonly after?: RowPlace | undefined;
  /** Which facets are wanted, asked once for each. Default: all. */
  readonly facet?: (facet: string) => boolean;
  /** Only rows that belong to one of these. Default: all. */
  readonly groups?: readonly string[] | undefined;
}
