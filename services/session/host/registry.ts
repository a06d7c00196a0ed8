import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Outcome } from './outcome.ts';
import type { SessionActor } from './session-actor.ts';

export interface RegistryOptions {
  readonly limit: number;
  load(key: SessionKey): Promise<SessionActor>;
  /** Called when a loaded session is in memory and may act. */
  arrived(session: SessionActor): void;
  /** Called before an idle session leaves memory to make room. */
  passivate(session: SessionActor): void;
  /** Called when a session has left memory, whatever the reason. */
  left(session: SessionActor): void;
}

/** A session on its way into memory. `lost`: the outcome to close it with on arrival, because it is no longer ours. */
interface Arrival {
  readonly session: Promise<SessionActor>;
  lost: Outcome | null;
}

/** The sessions this host holds in memory, least recently used first. Concurrent requests for a key load it once. */
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

  sessions(): Iterable<SessionActor> {
    return this.#residents.values();
  }

  /** The session of a key, loaded if needed. Rejects as `load` does, and with `overloaded` when every resident is busy. */
  async get(key: SessionKey): Promise<SessionActor> {
    const resident = this.#residents.get(key);
    if (resident !== undefined) {
      this.#residents.delete(key);
      this.#residents.set(key, resident);
      return resident;
    }
    const { session } = this.#loading.get(key) ?? this.#load(key);
    return session;
  }

  /** Forgets a session at once. Commands in its mailbox resolve to `outcome`; after `stale` they are retried on a fresh load of the session. */
  drop(session: SessionActor, outcome: Outcome = { kind: 'stale' }): void {
    session.close(outcome);
    if (this.#residents.get(session.key) !== session) return;
    this.#residents.delete(session.key);
    this.#options.left(session);
  }

  /** Drops a session unless it is busy. */
  forget(key: SessionKey): void {
    const session = this.#residents.get(key);
    if (session !== undefined && !session.isBusy) this.drop(session);
  }

  /** Forgets sessions that are no longer ours. Those that are still loading never act. */
  lose(isLost: (key: SessionKey) => boolean, outcome: Outcome): void {
    for (const session of [...this.#residents.values()]) if (isLost(session.key)) this.drop(session, outcome);
    for (const [key, arrival] of this.#loading) if (isLost(key)) arrival.lost = outcome;
  }

  #load(key: SessionKey): Arrival {
    this.#makeRoom();
    const session = this.#options
      .load(key)
      .then((loaded) => this.#arrive(loaded, arrival))
      .finally(() => this.#loading.delete(key));
    const arrival: Arrival = { lost: null, session };
    this.#loading.set(key, arrival);
    return arrival;
  }

  #arrive(session: SessionActor, { lost }: Arrival): SessionActor {
    if (lost !== null) {
      session.close(lost);
      return session;
    }
    this.#residents.set(session.key, session);
    this.#options.arrived(session);
    return session;
  }

  #makeRoom(): void {
    if (this.#residents.size + this.#loading.size < this.#options.limit) return;
    for (const session of this.#residents.values()) {
      if (session.isBusy) continue;
      this.#options.passivate(session);
      this.drop(session);
      return;
    }
    throw new NatterError('overloaded', `all ${this.#residents.size} sessions in memory are busy`, { retryAfterMs: 1_000 });
  }
}
