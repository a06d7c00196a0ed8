import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { isUnreadable, NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';

/** Damaged sessions that a warning names. */
const named = 3;

/** The sessions whose history is damaged or cannot be folded by this version. Each is set aside alone; other sessions are not affected (F24). */
export class Quarantine {
  readonly #errors = new Map<SessionKey, NatterError>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  get size(): number {
    return this.#errors.size;
  }
  /** Those of them that are damaged. */
  get damaged(): readonly SessionKey[] {
    return [...this.#errors].flatMap(([key, { code }]) => (code === 'damaged' ? [key] : []));
  }

  /** What a person has to decide. */
  warnings(): readonly string[] {
    const { damaged } = this;
    if (damaged.length === 0) return [];
    const commands = damaged
      .slice(0, named)
      .map((key) => `natter repair ${key}`)
      .join(', ');
    return [`${damaged.length} ${damaged.length === 1 ? 'session is' : 'sessions are'} damaged; see ${commands}`];
  }

  has(key: SessionKey): boolean {
    return this.#errors.has(key);
  }

  /** Runs `load`, unless the session is known to be unreadable. Rejects with `NatterError('quarantined' | 'damaged')` then, and as `load` does. */
  async guard<T>(key: SessionKey, load: () => Promise<T>): Promise<T> {
    const known = this.#errors.get(key);
    if (known !== undefined) throw known;
    try {
      return await load();
    } catch (error) {
      if (error instanceof NatterError && isUnreadable(error)) this.setAside(key, error);
      throw error;
    }
  }

  setAside(key: SessionKey, error: NatterError): void {
    if (this.#errors.size < limits.residentSessions) this.#errors.set(key, error);
    const { code, message: reason } = error;
    this.#log.error(
      { key, code, reason },
      'session quarantined: its commands go to the dead letters, other sessions are not affected',
    );
  }

  /** Lets sessions be loaded again: a person has repaired them, or another host may have while it owned them. */
  lift(isLifted: (key: SessionKey) => boolean): void {
    for (const key of [...this.#errors.keys()]) if (isLifted(key)) this.#errors.delete(key);
  }
}
