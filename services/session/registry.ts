import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import type { Outcome, SessionActor } from './session-actor.ts';

export interface RegistryOptions {
  readonly limit: number;
  load(key: SessionKey): Promise<SessionActor>;
  /** Called when a loaded session is in memory and may begin to act. */
  arrived(actor: SessionActor): void;
  /** Called before an idle session leaves memory to make room. */
  passivate(actor: SessionActor): void;
  /** Called when a session has left memory, whatever the reason. */
  left(actor: SessionActor): void;
}

/** A session on its way into memory. `lost`: what it ends with as soon as it is there, because it is no longer ours. */
interface Arrival {
  readonly actor: Promise<SessionActor>;
  lost: Outcome | null;
}

/** The sessions this host holds in memory, least recently used first. A key is loaded once however many ask for it at the same time. */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #residents = new Map<SessionKey, SessionActor>();
  readonly #loading = new Map<SessionKey, Arrival>();

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
    const { actor } = this.#loading.get(key) ?? this.#load(key);
    return actor;
  }

  /** Forgets a session at once. What waits in its mailbox comes back with `outcome`: `stale` is tried again on a fresh actor. */
  drop(actor: SessionActor, outcome: Outcome = { kind: 'stale' }): void {
    actor.close(outcome);
    if (this.#residents.get(actor.key) !== actor) return;
    this.#residents.delete(actor.key);
    this.#options.left(actor);
  }

  /** Lets go of a session that does nothing now. */
  forget(key: SessionKey): void {
    const actor = this.#residents.get(key);
    if (actor !== undefined && !actor.busy) this.drop(actor);
  }

  /** Forgets sessions that are no longer ours, those on their way included: they never begin to act. */
  lose(isLost: (key: SessionKey) => boolean, outcome: Outcome): void {
    for (const actor of [...this.#residents.values()]) if (isLost(actor.key)) this.drop(actor, outcome);
    for (const [key, arrival] of this.#loading) if (isLost(key)) arrival.lost = outcome;
  }

  #load(key: SessionKey): Arrival {
    this.#makeRoom();
    const actor = this.#options
      .load(key)
      .then((loaded) => this.#arrive(loaded, arrival))
      .finally(() => this.#loading.delete(key));
    const arrival: Arrival = { lost: null, actor };
    this.#loading.set(key, arrival);
    return arrival;
  }

  #arrive(actor: SessionActor, { lost }: Arrival): SessionActor {
    if (lost !== null) {
      actor.close(lost);
      return actor;
    }
    this.#residents.set(actor.key, actor);
    this.#options.arrived(actor);
    return actor;
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
