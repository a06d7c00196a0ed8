import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { errorMessage, hasCode, NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';

/** The sessions whose history this version cannot fold. Each is set aside alone; other sessions are not affected (F24). */
export class Quarantine {
  readonly #reasons = new Map<SessionKey, string>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  get size(): number {
    return this.#reasons.size;
  }

  has(key: SessionKey): boolean {
    return this.#reasons.has(key);
  }

  /** Runs `load`, unless the session is known to be unreadable. Rejects with `NatterError('quarantined')` then, and as `load` does. */
  async guard<T>(key: SessionKey, load: () => Promise<T>): Promise<T> {
    const known = this.#reasons.get(key);
    if (known !== undefined) throw new NatterError('quarantined', known);
    try {
      return await load();
    } catch (error) {
      if (hasCode(error, 'quarantined')) this.#add(key, errorMessage(error));
      throw error;
    }
  }

  #add(key: SessionKey, reason: string): void {
    if (this.#reasons.size < limits.residentSessions) this.#reasons.set(key, reason);
    this.#log.error({ key, reason }, 'session quarantined: its commands go to the dead letters, other sessions are not affected');
  }
}
