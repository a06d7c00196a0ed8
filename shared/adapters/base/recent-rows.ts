import type { RowFilter, RowPlace } from '../../ports.ts';
import type { IndexRow } from '../../session/summary.ts';

interface Entry {
  readonly row: IndexRow;
  /** The number of its facet; `countless` where there are too many of them. */
  readonly facet: number;
  /** False once the row has changed: another entry has taken its place. */
  current: boolean;
}

/** Entries that are of no more use are kept until there are as many of them as of others, and this many more. */
const slackEntries = 1_000;
/** Facets that are numbered; what comes after them is looked at row by row. */
const countedFacets = 1_000;
const countless = -1;

/** The older first; the key decides between equals, so that a place is exact. */
const byAge = (a: RowPlace, b: RowPlace): number => a.updatedAt - b.updatedAt || Number(a.key < b.key) - Number(a.key > b.key);

/**
 * Rows by key and by age. The order is repaired when it is asked for, and only as far back as rows have changed: a change costs next to
 * nothing, and a list of the newest does not depend on how many rows there are. A filter is asked once for each facet and not for each
 * row: going past a row that is not wanted does not even touch it, which is most of what it would cost.
 */
export class RecentRows {
  readonly #facetOf: (row: IndexRow) => string;
  readonly #facets = new Map<string, number>();
  readonly #entries = new Map<string, Entry>();
  /** Oldest first. */
  #ordered: Entry[] = [];
  /** What has come since the order was last asked for. */
  #fresh: Entry[] = [];

  constructor(facetOf: (row: IndexRow) => string = () => '') {
    this.#facetOf = facetOf;
  }

  /** Entries kept in all. */
  get entries(): number {
    return this.#ordered.length + this.#fresh.length;
  }

  get(key: string): IndexRow | undefined {
    return this.#entries.get(key)?.row;
  }

  set(key: string, row: IndexRow): void {
    this.delete(key);
    const entry = { row, facet: this.#numberOf(this.#facetOf(row)), current: true };
    this.#entries.set(key, entry);
    this.#fresh.push(entry);
    if (this.entries > 2 * this.#entries.size + slackEntries) this.#sweep();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) entry.current = false;
    this.#entries.delete(key);
  }

  *rows(): Iterable<IndexRow> {
    for (const { row } of this.#entries.values()) yield row;
  }

  /** The newest first. To be read at one stretch: a change ends it. */
  *newestFirst({ after, facet = () => true }: RowFilter = {}): Iterable<IndexRow> {
    this.#repair();
    const ordered = this.#ordered;
    const wanted = Uint8Array.from(this.#facets.keys(), (name) => Number(facet(name)));
    for (let at = after ? this.#olderThan(after) : ordered.length; at > 0; at -= 1) {
      const entry = ordered[at - 1];
      if (!entry?.current) continue;
      if (entry.facet === countless ? facet(this.#facetOf(entry.row)) : wanted[entry.facet] === 1) yield entry.row;
    }
  }

  /** Facets are numbered as they come: their number is their place in the map. */
  #numberOf(facet: string): number {
    const known = this.#facets.get(facet);
    if (known !== undefined) return known;
    const next = this.#facets.size;
    if (next >= countedFacets) return countless;
    this.#facets.set(facet, next);
    return next;
  }

  #repair(): void {
    const fresh = this.#fresh.filter(({ current }) => current).sort((a, b) => byAge(a.row, b.row));
    this.#fresh = [];
    if (fresh[0] === undefined) return;
    const younger = this.#ordered.splice(this.#olderThan(fresh[0].row)).filter(({ current }) => current);
    // Two runs that are in order each: sorting them is merging them.
    for (const entry of [...younger, ...fresh].sort((a, b) => byAge(a.row, b.row))) this.#ordered.push(entry);
  }

  /** How many entries are older than a place. */
  #olderThan(place: RowPlace): number {
    let [low, high] = [0, this.#ordered.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#ordered[middle];
      if (entry && byAge(entry.row, place) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #sweep(): void {
    this.#ordered = this.#ordered.filter(({ current }) => current);
    this.#fresh = this.#fresh.filter(({ current }) => current);
  }
}
