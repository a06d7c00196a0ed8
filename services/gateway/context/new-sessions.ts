import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { RateLimit } from '../../../shared/runtime/rate-limit.ts';
import type { TokenBearer } from './callers.ts';
import type { SessionList } from './session-list.ts';

/** How many sessions a token of a channel or a participant starts. The owner's tokens may start any number. */
export class NewSessions {
  readonly #sessions: Pick<SessionList, 'peek' | 'problems'>;
  readonly #rate: RateLimit;
  /** Keys that were counted and may not be in the index yet. */
  readonly #counted = new LRUCache<string, true>({ max: limits.rateNames });

  constructor(sessions: Pick<SessionList, 'peek' | 'problems'>, clock: Clock, perHour: () => number) {
    this.#sessions = sessions;
    this.#rate = new RateLimit(clock, perHour, 'this token starts sessions', 'hour');
  }

  /** Counts the session if it would be new. Throws `NatterError('overloaded')` for a caller that starts too many. */
  enter({ actor, principal }: Pick<TokenBearer, 'actor' | 'principal'>, key: SessionKey): void {
    // Before the index is loaded, every session would look new.
    if (principal.role === 'owner' || this.#sessions.problems().length > 0 || this.#sessions.peek(key) !== undefined) return;
    const name = `${actor} ${key}`;
    if (this.#counted.has(name)) return;
    this.#rate.take(actor);
    this.#counted.set(name, true);
  }
}
