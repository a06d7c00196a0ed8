import type { MemoryEntry, MemoryMark } from '../domain/memory/memory-entry.ts';

/** The long-term memory: a projection of the log's `memory_changed`. What is gone never comes back under its id. */
export interface MemoryStore {
  /** `null`: there is none, or it is gone. */
  get(id: string): Promise<MemoryEntry | null>;
  /** Writes what has changed and then the position it reflects. An entry never goes back to an older change. */
  put(change: MemoryNews, position: number): Promise<void>;
  /** Sequence up to which it reflects the log; 0 if it is empty. */
  position(): Promise<number>;
  /** Has the log read from its beginning once more: whoever writes is refused, and begins anew. */
  reset(): Promise<void>;
  /** Keeps a searchable copy in memory until closed: current within a second. */
  watch(): Promise<MemoryView>;
}

export interface MemoryNews {
  readonly entries: readonly MemoryEntry[];
  /** Ids. */
  readonly gone: readonly string[];
}

/** `all` is for those from whom nothing is hidden. */
export type MemoryScopes = readonly string[] | 'all';

export interface MemoryView {
  get(id: string): MemoryEntry | undefined;
  /** Changed last first. Begins after an entry, if one is named. */
  list(options: { scopes: MemoryScopes; limit: number; after?: MemoryMark | undefined }): MemoryEntry[];
  /** The best first; of equally good ones the newest. A query is words, whatever stands in it. */
  search(options: { scopes: MemoryScopes; query: string; limit: number }): MemoryEntry[];
  /** Ids of all that is gone for good. */
  gone(): readonly string[];
  /** Sequence up to which it reflects the log. */
  position(): number;
  close(): Promise<void>;
}
