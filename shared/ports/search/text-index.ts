import type { MemoryMark } from '../../domain/memory/memory-entry.ts';
import type { MemoryScopes } from '../memory-store.ts';

/** What can be found by its words. `id` and `source.seq` say how old it is; `scope` is the group it belongs to. */
export interface Searchable extends MemoryMark {
  readonly scope: string;
  readonly text: string;
  /** Who says so, by whose name it is found as well. */
  readonly from?: string | undefined;
}

export interface FoundBy {
  readonly scopes: MemoryScopes;
  /** A list of words, without operators; the last one may be the beginning of a word. */
  readonly query: string;
  readonly limit: number;
  /** Only what has all the words. Default: what has any of them, the best first. */
  readonly every?: boolean;
}

/** A full-text index in memory: of memories, and of messages (B19). It holds the entries, and can be made again from them. */
export interface TextIndex<Entry extends Searchable> {
  readonly size: number;
  /** Of all texts in it. */
  readonly characters: number;
  /** Adds an entry, or replaces the one with its id. */
  set(entry: Entry): void;
  delete(id: string): void;
  /** Drops what belongs to a scope. */
  clear(scope: string): void;
  get(id: string): Entry | undefined;
  /** The entry that was set first. */
  oldest(): Entry | undefined;
  /** Best match first; of equal matches the newest. */
  search(wanted: FoundBy): Entry[];
  close(): void;
}
