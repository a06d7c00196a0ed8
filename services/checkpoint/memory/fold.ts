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

/**
 * The headlines of commits that may change memory; others need not be read. A tool call's change is in a commit with the headline
 * of its result.
 */
export const memoryHeadlines: readonly EventType[] = ['tool_result', 'introspected', 'memory_changed', 'session_deleted'];

/**
 * Long-term memory as a fold of the log (A7/82). It enforces the reach of a change: nothing outside of it is touched. Adding the
 * same commit again changes nothing.
 */
export class MemoryFold {
  readonly #entries = new Map<string, MemoryEntry>();
  /** Ids by scope, oldest first, and by each session that contributed to them. */
  readonly #byScope = new Map<string, Set<string>>();
  /** Total characters of a scope's texts. */
  readonly #characters = new Map<string, number>();
  readonly #byKey = new Map<SessionKey, Set<string>>();
  /** Ids forgotten earlier: when the log is read again, adding them must not push out current entries (I11). */
  readonly #gone: ReadonlySet<string>;
  #news = new Map<string, MemoryEntry | null>();

  /** Continues from stored entries and the ids known to be forgotten. */
  constructor(entries: readonly MemoryEntry[] = [], gone: readonly string[] = []) {
    this.#gone = new Set(gone);
    for (const entry of [...entries].sort(byAge)) this.#keep(entry);
    this.#news.clear();
  }

  get size(): number {
    return this.#entries.size;
  }
  /** The number of memories changed since the last `takeNews`. */
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

  /** The changes since the last call. */
  takeNews(): MemoryNews {
    const news = [...this.#news];
    this.#news = new Map();
    return {
      entries: news.flatMap(([, entry]) => entry ?? []),
      gone: news.flatMap(([id, entry]) => (entry === null ? [id] : [])),
    };
  }

  /** Applies the changes of an event. All additions of a commit are numbered, including those without effect. */
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
   * Deleting a session removes its own memories, erasing it all that it contributed to (C9). Memories that it did not contribute
   * to before that commit stay: when the log is read again, stored ones may be newer than the deletion.
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

/**
 * The additions so far and the ids changed by one commit. An entry with the commit's sequence that is not among these was changed
 * in an earlier read of the log.
 */
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
 * Keeps the first and the latest places, and one place per session as long as there is room, since erasing a session removes what
 * it contributed to (C9). With more sessions than places the oldest are dropped.
 */
const withPlace = (places: readonly Place[], place: Place): readonly Place[] => {
  if (places.at(-1)?.seq === place.seq) return places;
  const all = [...places, place];
  if (all.length <= limits.memoryPlaces) return all;
  const isAgain = ({ key }: Place, at: number): boolean =>
    at > 0 && all.some((other, index) => index !== at && other.key === key);
  return all.toSpliced(Math.max(1, all.findIndex(isAgain)), 1);
};
