import type { IndexRow } from '../../domain/projections/index-row.ts';
import type { RowFilter, RowMarks, RowPlace } from '../../ports/session-index.ts';

interface Entry {
  readonly row: IndexRow;
  readonly facet: Facet;
  readonly groups: readonly string[];
  /** False once the row has changed and another entry has replaced this one. */
  current: boolean;
}

/** The entries that filters treat alike. `number` is its index in the map, or `countless` when there are too many facets. */
interface Facet {
  readonly number: number;
  readonly entries: Set<Entry>;
}
type Wants = (entry: Entry) => boolean;

/** Replaced entries are kept until they outnumber the current ones by this many. */
const slackEntries = 1_000;
/** Number of facets with an index; rows of any further facets are checked one by one. */
const countedFacets = 1_000;
const countless = -1;
/** Up to this many rows are sorted on demand; with more, the newest are found quickly in the common order. */
const fewRows = 2_000;

const noMarks: RowMarks = { facetOf: () => '', groupsOf: () => [] };

/** Compares by age, oldest first; the key decides between equals, so that a place is exact. */
const byAge = (a: RowPlace, b: RowPlace): number => a.updatedAt - b.updatedAt || Number(a.key < b.key) - Number(a.key > b.key);

/**
 * Rows by key and by age. The order is repaired on demand, and only as far back as rows have changed: a change costs almost
 * nothing, and a list of the newest does not depend on the total. A filter is called once per facet instead of once per row:
 * skipping an unwanted row does not even touch it, which is most of the cost. If only few rows can match, those of small groups
 * or rare facets, they are found without passing the others.
 */
export class RecentRows {
  readonly #marks: RowMarks;
  readonly #groups = new Map<string, Set<Entry>>();
  readonly #facets = new Map<string, Facet>();
  readonly #others: Facet = { number: countless, entries: new Set() };
  readonly #entries = new Map<string, Entry>();
  /** Oldest first. */
  #ordered: Entry[] = [];
  /** Entries added since the order was last repaired. */
  #fresh: Entry[] = [];

  constructor(given: Partial<RowMarks> = {}) {
    this.#marks = { ...noMarks, ...given };
  }

  /** The number of entries kept, replaced ones included. */
  get entries(): number {
    return this.#ordered.length + this.#fresh.length;
  }

  /** The number of groups with rows. */
  get groups(): number {
    return this.#groups.size;
  }

  get(key: string): IndexRow | undefined {
    return this.#entries.get(key)?.row;
  }

  set(key: string, row: IndexRow): void {
    this.delete(key);
    const { facetOf, groupsOf } = this.#marks;
    const entry = { row, facet: this.#facetNamed(facetOf(row)), groups: groupsOf(row), current: true };
    this.#entries.set(key, entry);
    entry.facet.entries.add(entry);
    for (const name of entry.groups) this.#groups.set(name, (this.#groups.get(name) ?? new Set()).add(entry));
    this.#fresh.push(entry);
    if (this.entries > 2 * this.#entries.size + slackEntries) this.#sweep();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.current = false;
    this.#entries.delete(key);
    entry.facet.entries.delete(entry);
    for (const name of entry.groups) {
      const group = this.#groups.get(name);
      group?.delete(entry);
      if (group?.size === 0) this.#groups.delete(name);
    }
  }

  *rows(): Iterable<IndexRow> {
    for (const { row } of this.#entries.values()) yield row;
  }

  /** Newest first. Iterate without awaiting in between: a change invalidates the iteration. */
  *newestFirst({ after, facet = () => true, groups }: RowFilter = {}): Iterable<IndexRow> {
    const wanted = Uint8Array.from(this.#facets.keys(), (name) => Number(facet(name)));
    const isWanted: Wants = ({ row, facet: { number } }) =>
      number === countless ? facet(this.#marks.facetOf(row)) : wanted[number] === 1;
    const members = groups?.flatMap((name) => this.#groups.get(name) ?? []);
    const isMember: Wants = (entry) => members === undefined || members.some((group) => group.has(entry));
    const alike = [this.#others, ...[...this.#facets.values()].filter(({ number }) => wanted[number] === 1)];
    const sets = members ?? alike.map(({ entries }) => entries);
    const few = sets.reduce((sum, { size }) => sum + size, 0) <= fewRows;
    yield* few ? this.#these(sets, isWanted, after) : this.#all((entry) => isWanted(entry) && isMember(entry), after);
  }

  *#all(wants: Wants, after?: RowPlace): Iterable<IndexRow> {
    this.#repair();
    const ordered = this.#ordered;
    for (let at = after ? this.#olderThan(after) : ordered.length; at > 0; at -= 1) {
      const entry = ordered[at - 1];
      if (entry?.current && wants(entry)) yield entry.row;
    }
  }

  *#these(sets: readonly Set<Entry>[], wants: Wants, after?: RowPlace): Iterable<IndexRow> {
    const entries = new Set(sets.flatMap((set) => [...set].filter(wants)));
    const rows = Array.from(entries, ({ row }) => row).filter((row) => after === undefined || byAge(row, after) < 0);
    yield* rows.sort((a, b) => byAge(b, a));
  }

  #facetNamed(name: string): Facet {
    const known = this.#facets.get(name);
    if (known !== undefined) return known;
    if (this.#facets.size >= countedFacets) return this.#others;
    const next = { number: this.#facets.size, entries: new Set<Entry>() };
    this.#facets.set(name, next);
    return next;
  }

  #repair(): void {
    const fresh = this.#fresh.filter(({ current }) => current).sort((a, b) => byAge(a.row, b.row));
    this.#fresh = [];
    if (fresh[0] === undefined) return;
    const younger = this.#ordered.splice(this.#olderThan(fresh[0].row)).filter(({ current }) => current);
    // Both parts are sorted, so sorting them merges them.
    for (const entry of [...younger, ...fresh].sort((a, b) => byAge(a.row, b.row))) this.#ordered.push(entry);
  }

  /** The number of entries older than a place. */
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
