import { NatterError } from '../../../shared/kit/errors.ts';

/** How many uses may be open at once: by all callers together, and by each of them. */
export interface QuotaLimits {
  readonly all: number;
  readonly each: number;
}

/** Limits how much callers keep open at once. No caller can take everything, so that others get their share (I11). */
export class ConcurrencyQuota {
  readonly #limits: QuotaLimits;
  readonly #exhausted: string;
  readonly #inUse = new Map<string, number>();
  #total = 0;

  /** `exhausted`: the message for a caller who is refused. */
  constructor(limits: QuotaLimits, exhausted: string) {
    this.#limits = limits;
    this.#exhausted = exhausted;
  }

  get inUse(): number {
    return this.#total;
  }

  /** Counts a use by the actor, or `size` of them, until the returned function is called, once. Throws `NatterError('overloaded')`. */
  acquire(actor: string, size = 1): () => void {
    const own = this.#inUse.get(actor) ?? 0;
    if (this.#total + size > this.#limits.all || own + size > this.#limits.each)
      throw new NatterError('overloaded', this.#exhausted);
    this.#count(actor, size);
    return () => this.#count(actor, -size);
  }

  /** Counts a use by the actor while the work goes on. Rejects as the work does, and as `acquire` throws. */
  async during<T>(actor: string, work: () => Promise<T>): Promise<T> {
    const release = this.acquire(actor);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #count(actor: string, change: number): void {
    const own = (this.#inUse.get(actor) ?? 0) + change;
    if (own === 0) this.#inUse.delete(actor);
    else this.#inUse.set(actor, own);
    this.#total += change;
  }
}
