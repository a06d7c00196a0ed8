import type { MemoryEntry, MemoryMark } from '../domain/memory/memory-entry.ts';

/** Long-term memory: a projection of `memory_changed` events. A forgotten memory never comes back under its id. */
export interface MemoryStore {
  /** `null`: it does not exist or is forgotten. */
  get(id: string): Promise<MemoryEntry | null>;
  /** Writes changes and then the position they reflect. An entry never goes back to an older change. */
  put(change: MemoryNews, position: number): Promise<void>;
  /** Sequence of the log up to which it is current; 0 if it is empty. */
  position(): Promise<number>;
  /** Restarts the projection from the beginning of the log. A concurrent writer is refused and starts over. */
  reset(): Promise<void>;
  /** Keeps a searchable copy in memory until closed; it lags by at most a second. */
  watch(): Promise<MemoryView>;
}

export interface MemoryNews {
  readonly entries: readonly MemoryEntry[];
  /** Ids of forgotten memories. */
  readonly gone: readonly string[];
}

/** `all` is for callers who see everything. */
export type MemoryScopes = readonly string[] | 'all';

export interface MemoryView {
  get(id: string): MemoryEntry | undefined;
  /** Most recently changed first, starting after the given entry if there is one. */
  list(options: { scopes: MemoryScopes; limit: number; after?: MemoryMark | undefined }): MemoryEntry[];
  /** Best match first; of equal matches the newest. A query is a list of words, without operators. */
  search(options: { scopes: MemoryScopes; query: string; limit: number }): MemoryEntry[];
  /** Ids of all forgotten memories. */
  gone(): readonly string[];
  /** Sequence of the log up to which it is current. */
  position(): number;
  close(): Promise<void>;
}
