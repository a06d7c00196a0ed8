import Database from 'libsql';
import type { MemoryEntry, MemoryMark } from '../../../domain/memory/memory-entry.ts';
import { newestFirst } from '../../../domain/memory/order.ts';
import { limits } from '../../../kit/limits.ts';
import type { MemoryScopes } from '../../../ports/memory-store.ts';
import type { FoundBy, Searchable, TextIndex } from '../../../ports/search/text-index.ts';
import { indexed, termsOf } from './memory-words.ts';

/** Changes written in one transaction. */
const batch = 1_000;

const schema = `create virtual table entry using fts5(text, scope, content='', contentless_delete=1, prefix='2 3', tokenize='unicode61 remove_diacritics 2')`;
/** Ranks only the newest of very many matches. Returns the best, including all that tie with the last of them. */
const ranking = `with ranked as materialized (
  select rowid as number, bm25(entry, 1.0, 0.0) as score from entry where entry match ? order by rowid desc limit ${limits.memoryCandidates}
) select number, score from ranked where score <= (select max(score) from (select score from ranked order by score limit ?))`;
const counting = `select count(*) from (select 1 from entry where entry match ? limit ${limits.memoryCandidates})`;

interface Scope<Entry> {
  readonly term: string;
  readonly numbers: Set<number>;
  /** Its entries, most recently changed first; dropped when one of them changes. Each turn asks for the newest (A11/124). */
  sorted: readonly Entry[] | null;
}

/**
 * A full-text index of memories or messages by scope and words, in memory, based on SQLite. It is derived from the entries and can be
 * rebuilt at any time. A row's number grows with each change, so the greatest is the newest.
 */
export class SearchIndex<Entry extends Searchable = MemoryEntry> implements TextIndex<Entry> {
  readonly #database = opened();
  readonly #insert = this.#database.prepare<[number, string, string]>('insert into entry(rowid, text, scope) values (?, ?, ?)');
  readonly #remove = this.#database.prepare<[number]>('delete from entry where rowid = ?');
  readonly #rank = this.#database.prepare<[string, number]>(ranking).raw();
  readonly #count = this.#database.prepare<[string]>(counting).raw();
  readonly #numbers = new Map<string, number>();
  readonly #entries = new Map<number, Entry>();
  readonly #scopes = new Map<string, Scope<Entry>>();
  #last = 0;
  #characters = 0;
  /** Rows to insert and to remove before the next search. */
  #fresh: number[] = [];
  #stale: number[] = [];

  get size(): number {
    return this.#entries.size;
  }

  get characters(): number {
    return this.#characters;
  }

  set(entry: Entry): void {
    this.delete(entry.id);
    const number = ++this.#last;
    this.#numbers.set(entry.id, number);
    this.#entries.set(number, entry);
    this.#characters += wordsOf(entry).length;
    const scope = this.#scopeOf(entry.scope);
    scope.numbers.add(number);
    scope.sorted = null;
    this.#fresh.push(number);
    if (this.#fresh.length >= batch) this.#write();
  }

  delete(id: string): void {
    const number = this.#numbers.get(id);
    const entry = number === undefined ? undefined : this.#entries.get(number);
    if (number === undefined || entry === undefined) return;
    this.#numbers.delete(id);
    this.#entries.delete(number);
    this.#characters -= wordsOf(entry).length;
    const scope = this.#scopeOf(entry.scope);
    scope.numbers.delete(number);
    scope.sorted = null;
    this.#stale.push(number);
    if (this.#stale.length >= batch) this.#write();
  }

  get(id: string): Entry | undefined {
    const number = this.#numbers.get(id);
    return number === undefined ? undefined : this.#entries.get(number);
  }

  list({ scopes, limit, after }: { scopes: MemoryScopes; limit: number; after?: MemoryMark | undefined }): Entry[] {
    const found = Array.from(scopes === 'all' ? this.#scopes.keys() : new Set(scopes), (scope) => {
      const sorted = this.#sorted(scope);
      const from = after === undefined ? 0 : sorted.findIndex((entry) => newestFirst(after, entry) < 0);
      return from === -1 ? [] : sorted.slice(from, from + limit);
    });
    return found.flat().sort(newestFirst).slice(0, limit);
  }

  search({ scopes, query, limit, every = false }: FoundBy): Entry[] {
    const terms = termsOf(query);
    const within = this.#scopeTerms(scopes);
    if (terms.length === 0 || within === null) return [];
    this.#write();
    const chosen = this.#reach(scopes) > limits.memoryCandidates ? this.#telling(terms, within) : terms;
    const wanted = every ? allOf(terms) : anyOf(chosen);
    const found = this.#rank.all(within + wanted, limit) as [number, number][];
    return found
      .flatMap(([number, score]) => {
        const entry = this.#entries.get(number);
        return entry ? [{ entry, score }] : [];
      })
      .sort((one, other) => one.score - other.score || newestFirst(one.entry, other.entry))
      .slice(0, limit)
      .map(({ entry }) => entry);
  }

  clear(scope: string): void {
    for (const number of this.#scopes.get(scope)?.numbers ?? []) {
      const entry = this.#entries.get(number);
      if (entry !== undefined) this.delete(entry.id);
    }
  }

  oldest(): Entry | undefined {
    const [entry] = this.#entries.values();
    return entry;
  }

  close(): void {
    this.#database.close();
  }

  /** The selective terms: very common ones are dropped as long as others remain. */
  #telling(terms: readonly string[], within: string): readonly string[] {
    const telling = terms.filter((term) => {
      const [[count = 0] = []] = this.#count.all(within + anyOf([term])) as [number][];
      return count > 0 && count < limits.memoryCandidates;
    });
    return telling.length > 0 ? telling : terms;
  }

  /** The number of memories in these scopes. */
  #reach(scopes: MemoryScopes): number {
    if (scopes === 'all') return this.#entries.size;
    return scopes.reduce((sum, scope) => sum + (this.#scopes.get(scope)?.numbers.size ?? 0), 0);
  }

  #sorted(name: string): readonly Entry[] {
    const scope = this.#scopes.get(name);
    if (scope === undefined) return [];
    scope.sorted ??= [...scope.numbers].flatMap((number): readonly Entry[] => this.#entryAt(number)).sort(newestFirst);
    return scope.sorted;
  }

  /** The scope part of a match expression; `null`: nothing can match. */
  #scopeTerms(scopes: MemoryScopes): string | null {
    if (scopes === 'all') return '';
    const terms = scopes.flatMap((scope) => this.#scopes.get(scope)?.term ?? []);
    return terms.length === 0 ? null : `scope: (${terms.join(' OR ')}) AND `;
  }

  #entryAt(number: number): readonly Entry[] {
    const entry = this.#entries.get(number);
    return entry === undefined ? [] : [entry];
  }

  #scopeOf(scope: string): Scope<Entry> {
    const known = this.#scopes.get(scope) ?? { term: `"scope${this.#scopes.size}"`, numbers: new Set<number>(), sorted: null };
    this.#scopes.set(scope, known);
    return known;
  }

  #write(): void {
    if (this.#fresh.length === 0 && this.#stale.length === 0) return;
    const stale = this.#stale;
    const fresh = this.#fresh;
    this.#fresh = [];
    this.#stale = [];
    this.#database.exec('begin');
    for (const number of fresh) {
      const entry = this.#entries.get(number);
      if (entry) this.#insert.run(number, indexed(wordsOf(entry)), this.#scopeOf(entry.scope).term);
    }
    for (const number of stale) this.#remove.run(number);
    this.#database.exec('commit');
  }
}

/** All that an entry is found by. */
const wordsOf = ({ from, text }: Searchable): string => (from === undefined ? text : `${from}\n${text}`);
const anyOf = (terms: readonly string[]): string => `text: (${terms.join(' OR ')})`;
const allOf = (terms: readonly string[]): string => `text: (${terms.join(' AND ')})`;

const opened = (): Database.Database => {
  const database = new Database(':memory:');
  database.exec(schema);
  return database;
};
