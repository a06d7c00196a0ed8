import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { MemoryEntry } from '../../../shared/domain/memory/memory-entry.ts';
import { scopeName, scopeNames } from '../../../shared/domain/memory/memory-scope.ts';
import { byAge, memoryIdOf } from '../../../shared/domain/memory/order.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf, EventType } from '../../../shared/domain/session/events.ts';
import type { MemoryChange } from '../../../shared/domain/values/memory-edit.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { MemoryNews } from '../../../shared/ports/memory-store.ts';

type Changed = EventOf<'memory_changed'>;
type Deleted = EventOf<'session_deleted'>;

/** The headlines under which a commit that changes the memory can be filed; the others need not be read. A call's change stands behind its result. */
export const memoryHeadlines: readonly EventType[] = ['tool_result', 'introspected', 'memory_changed', 'session_deleted'];

/**
 * The long-term memory as a fold of the log (A7/82). It enforces what whoever makes a change must keep to: nothing outside the reach of a
 * change is touched. The same commit again changes nothing.
 */
export class MemoryFold {
  readonly #entries = new Map<string, MemoryEntry>();
  /** Ids by scope, oldest first, and by each session that had a part in them. */
  readonly #byScope = new Map<string, Set<string>>();
  /** Characters of all texts of a scope. */
  readonly #characters = new Map<string, number>();
  readonly #byKey = new Map<SessionKey, Set<string>>();
  /** Ids that were gone before: where the log is read anew, their additions must not push out what is there (I11). */
  readonly #gone: ReadonlySet<string>;
  #news = new Map<string, MemoryEntry | null>();

  /** Goes on from what is stored, and what is known to be gone. */
  constructor(entries: readonly MemoryEntry[] = [], gone: readonly string[] = []) {
    this.#gone = new Set(gone);
    for (const entry of [...entries].sort(byAge)) this.#keep(entry);
    this.#news.clear();
  }

  get size(): number {
    return this.#entries.size;
  }
  /** Memories that have changed since they were asked for last. */
  get news(): number {
    return this.#news.size;
  }
  entries(): Iterable<MemoryEntry> {
    return this.#entries.values();
  }

  add(commit: RecordedCommit): void {
    const within: Within = { added: 0, changed: new Set() };
    for (const event of commit.events) {
      if (event.type === 'session_deleted') this.#delete(commit, event);
      if (event.type === 'memory_changed') this.#change(commit, event, within);
    }
  }

  /** What has changed since it was asked for last. */
  takeNews(): MemoryNews {
    const news = [...this.#news];
    this.#news = new Map();
    return {
      entries: news.flatMap(([, entry]) => entry ?? []),
      gone: news.flatMap(([id, entry]) => (entry === null ? [id] : [])),
    };
  }

  /** Numbers all additions of the commit, also those that come to nothing. */
  #change(commit: RecordedCommit, event: Changed, within: Within): void {
    const reach = new Set(scopeNames(event.reach, commit.key));
    for (const change of event.changes) {
      const id = change.op === 'add' ? memoryIdOf(commit, within.added++) : change.id;
      this.#apply(commit, event, { change, id, reach, within });
    }
  }

  #apply(
    commit: RecordedCommit,
    event: Changed,
    { change, id, reach, within }: { change: MemoryChange; id: string; reach: ReadonlySet<string>; within: Within },
  ): void {
    const known = this.#entries.get(id);
    const scope = change.op === 'add' ? scopeName(change.scope, commit.key) : known?.scope;
    const isNews =
      change.op === 'add'
        ? known === undefined && !this.#gone.has(id)
        : known !== undefined && (known.source.seq < commit.seq || within.changed.has(id));
    if (!isNews || scope === undefined || !reach.has(scope)) return;
    if (change.op === 'forget') return this.#drop(id);
    within.changed.add(id);
    const place = { key: commit.key, seq: commit.seq };
    const { sessionId, fromRev, toRev, by, person, callId } = event;
    this.#keep({
      id,
      scope,
      text: change.text,
      createdAt: known?.createdAt ?? commit.at,
      updatedAt: commit.at,
      source: {
        ...place,
        sessionId,
        fromRev,
        toRev,
        by,
        ...(person !== undefined && { person }),
        ...(callId !== undefined && { callId }),
      },
      changes: withPlace(known?.changes ?? [], place),
    });
    this.#bound(scope);
  }

  /**
   * Of a session that is deleted goes what was its own, of one that is erased all that came from it (C9). What it had no part in before stays:
   * where the log is read anew, what is stored may have been remembered since.
   */
  #delete({ key, seq }: RecordedCommit, { mode }: Deleted): void {
    const own = scopeName({ kind: 'session' }, key);
    const ids = mode === 'erased' ? this.#byKey.get(key) : this.#byScope.get(own);
    for (const id of ids ?? []) {
      const places = this.#entries.get(id)?.changes ?? [];
      if (places.some((place) => place.key === key && place.seq < seq)) this.#drop(id);
    }
  }

  #bound(scope: string): void {
    const isTooMuch = (ids: ReadonlySet<string>): boolean =>
      ids.size > limits.scopeMemories || (this.#characters.get(scope) ?? 0) > limits.scopeMemoryCharacters;
    for (const oldest of this.#byScope.get(scope) ?? []) {
      if (!isTooMuch(grouped(this.#byScope, scope))) return;
      this.#drop(oldest);
    }
  }

  #count({ scope, text }: MemoryEntry, sign: 1 | -1): void {
    this.#characters.set(scope, (this.#characters.get(scope) ?? 0) + sign * text.length);
  }

  #keep(entry: MemoryEntry): void {
    const before = this.#entries.get(entry.id);
    if (before) this.#count(before, -1);
    this.#count(entry, 1);
    this.#entries.set(entry.id, entry);
    this.#news.set(entry.id, entry);
    grouped(this.#byScope, entry.scope).add(entry.id);
    for (const { key } of entry.changes) grouped(this.#byKey, key).add(entry.id);
  }

  #drop(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    this.#count(entry, -1);
    this.#news.set(id, null);
    this.#byScope.get(entry.scope)?.delete(id);
    for (const { key } of entry.changes) this.#byKey.get(key)?.delete(id);
  }
}

/** How far a commit is: how many it has added so far, and what it has changed. What has its sequence and is not among these is of the time before. */
interface Within {
  added: number;
  readonly changed: Set<string>;
}

const grouped = <K>(groups: Map<K, Set<string>>, name: K): Set<string> => {
  const group = groups.get(name) ?? new Set();
  groups.set(name, group);
  return group;
};

type Place = MemoryEntry['changes'][number];
/**
 * The first and the latest, but of each session one as long as there is room: with a session that is erased goes what it had a part in (C9).
 * With more sessions than places the oldest of them are forgotten.
 */
const withPlace = (places: readonly Place[], place: Place): readonly Place[] => {
  if (places.at(-1)?.seq === place.seq) return places;
  const all = [...places, place];
  if (all.length <= limits.memoryPlaces) return all;
  const isAgain = ({ key }: Place, at: number): boolean =>
    at > 0 && all.some((other, index) => index !== at && other.key === key);
  return all.toSpliced(Math.max(1, all.findIndex(isAgain)), 1);
};
