import { NatterError } from '../../shared/kit/errors.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { Outcome, SessionActor } from './session-actor.ts';

export interface RegistryOptions {
  readonly limit: number;
  load(key: SessionKey): Promise<SessionActor>;
  /** Called before an idle session leaves memory to make room. */
  passivate(actor: SessionActor): void;
}

/** The sessions this host holds in memory, least recently used first. A key is loaded once however many ask for it at the same time. */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #residents = new Map<SessionKey, SessionActor>();
  readonly #loading = new Map<SessionKey, Promise<SessionActor>>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#residents.size;
  }

  has(key: SessionKey): boolean {
    return this.#residents.has(key) || this.#loading.has(key);
  }

  actors(): Iterable<SessionActor> {
    return this.#residents.values();
  }

  /** The live actor of a key, loaded if needed. Rejects as `load` does, and with `overloaded` when every resident is busy. */
  async get(key: SessionKey): Promise<SessionActor> {
    const resident = this.#residents.get(key);
    if (resident !== undefined) {
      this.#residents.delete(key);
      this.#residents.set(key, resident);
      return resident;
    }
    const pending = this.#loading.get(key) ?? this.#load(key);
    return pending;
  }

  /** Forgets a session at once. What waits in its mailbox comes back with `outcome`: `stale` is tried again on a fresh actor. */
  drop(actor: SessionActor, outcome: Outcome = { kind: 'stale' }): void {
    actor.close(outcome);
    if (this.#residents.get(actor.key) === actor) this.#residents.delete(actor.key);
  }

  /** Lets go of a session that does nothing now. */
  forget(key: SessionKey): void {
    const actor = this.#residents.get(key);
    if (actor !== undefined && !actor.busy) this.drop(actor);
  }

  #load(key: SessionKey): Promise<SessionActor> {
    this.#makeRoom();
    const loading = this.#options
      .load(key)
      .then((actor) => {
        this.#residents.set(key, actor);
        return actor;
      })
      .finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }

  #makeRoom(): void {
    if (this.#residents.size + this.#loading.size < this.#options.limit) return;
    for (const actor of this.#residents.values()) {
      if (actor.busy) continue;
      this.#options.passivate(actor);
      this.drop(actor);
      return;
    }
    throw new NatterError('overloaded', `all ${this.#residents.size} sessions in memory are busy`, { retryAfterMs: 1_000 });
  }
}
