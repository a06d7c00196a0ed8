import type { Clock } from '../../kit/clock.ts';

/** A stream's memory of message ids: the same id within the window is a duplicate of the first message. */
export class DuplicateWindow {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #recent = new Map<string, { seq: number; at: number }>();

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** Calls `store` for a new id; for a duplicate, returns the sequence of the first message. */
  once(id: string, store: () => number): { seq: number; duplicate: boolean } {
    const now = this.#clock.now();
    for (const [old, { at }] of this.#recent) {
      if (now - at < this.#windowMs) break;
      this.#recent.delete(old);
    }
    const first = this.#recent.get(id);
    if (first !== undefined) return { seq: first.seq, duplicate: true };
    const seq = store();
    this.#recent.set(id, { seq, at: now });
    return { seq, duplicate: false };
  }
}
