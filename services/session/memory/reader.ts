import type { Config } from '../../../shared/domain/config/schema.ts';
import { identitiesOf } from '../../../shared/domain/keys/identity.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { MemoryEntry } from '../../../shared/domain/memory/memory-entry.ts';
import { type MemoryReach, memoryReach, scopeName, scopeNames } from '../../../shared/domain/memory/memory-scope.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { MemoryScope } from '../../../shared/domain/values/memory-edit.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { MemoryView } from '../../../shared/ports/memory-store.ts';
import type { IndexView } from '../../../shared/ports/session-index.ts';
import type { ToolScope } from '../../../shared/ports/tools.ts';
import { rowNow } from '../../../shared/runtime/session-tools/row-now.ts';
import { CurrentRows } from './current-rows.ts';

export interface MemorySources {
  readonly config: Pick<Config, 'session'>;
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  readonly rows: Pick<IndexView, 'get'>;
  readonly view: Pick<MemoryView, 'get' | 'list' | 'search'>;
}
/** Long-term memory as one turn sees it. */
export interface TurnMemory {
  /** The scopes that the turn may change. */
  readonly write: MemoryReach['write'];
  /** Most recently changed first. */
  newest(limit: number): MemoryEntry[];
  search(query: string, limit: number): MemoryEntry[];
  get(id: string): MemoryEntry | undefined;
  /** The entry's scope if the turn may change it; otherwise `undefined`. */
  writableScope(entry: MemoryEntry): MemoryScope | undefined;
}
type Scope = Pick<ToolScope, 'key' | 'sender'>;

/**
 * Determines what a turn may read and change in memory (A7/82, I12). It uses the log's current state, so that a participant who
 * has just joined counts.
 */
export class MemoryReader {
  readonly #sources: MemorySources;
  readonly #current: CurrentRows;

  constructor(sources: MemorySources) {
    this.#sources = sources;
    this.#current = new CurrentRows(sources.rows);
  }

  /** Follows a commit that this host has just recorded. */
  note(commit: RecordedCommit, isRunning: boolean): void {
    this.#current.note(commit, isRunning);
  }

  /** Another host may go on with the session. */
  forget(key: SessionKey): void {
    this.#current.forget(key);
  }

  async at({ key, sender }: Scope): Promise<TurnMemory> {
    const { config, ports, rows, view } = this.#sources;
    const { mainKey, identityLinks } = config.session;
    const row = this.#current.get(key) ?? (await rowNow(ports, key, rows.get(key) ?? null));
    const rules = { mainKey, identities: identitiesOf(identityLinks) };
    const { read, write } = memoryReach({ key, participants: row?.participants ?? [], sender }, rules);
    const scopes = scopeNames(read, key);
    // The projection may not have seen the deletion of the session yet.
    const isThere = ({ scope, source }: MemoryEntry): boolean => scope !== ownScope(key) || source.seq > (row?.deletedSeq ?? 0);
    const inReach = (entry: MemoryEntry): boolean => scopes.includes(entry.scope) && isThere(entry);
    return {
      write,
      newest: (limit) => view.list({ scopes, limit }).filter(isThere),
      search: (query, limit) => view.search({ scopes, query, limit }).filter(isThere),
      get: (id) => [view.get(id)].find((entry) => entry !== undefined && inReach(entry)),
      writableScope: (entry) => write.find((scope) => scopeName(scope, key) === entry.scope),
    };
  }
}

const ownScope = (key: SessionKey): string => scopeName({ kind: 'session' }, key);

/** The kind of an entry's scope, taken from the scope's name. */
export const scopeKindOf = ({ scope }: Pick<MemoryEntry, 'scope'>): MemoryScope['kind'] =>
  scope.slice(0, scope.indexOf(':')) as MemoryScope['kind'];
