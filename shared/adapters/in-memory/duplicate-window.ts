import type { Clock } from '../../kit/clock.ts';

/** What a stream remembers of message ids: the same id again within the window is the first message. */
export class DuplicateWindow {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #recent = new Map<string, { seq: number; at: number }>();

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** Stores what is new; tells the first sequence of what is not. */
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
