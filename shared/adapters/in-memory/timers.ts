import type { Clock } from '../../kit/clock.ts';

/** Named timers: setting a name again replaces its timer. */
export class Timers {
  readonly #clock: Clock;
  readonly #taken = new Map<string, AbortController>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `due` at a time (ms since 1970), unless the timer is cancelled or replaced before. */
  async set(name: string, at: number, due: () => void): Promise<void> {
    this.cancel(name);
    const taken = new AbortController();
    this.#taken.set(name, taken);
    await this.#clock.sleep(Math.max(0, at - this.#clock.now()), taken.signal);
    if (taken.signal.aborted) return;
    this.#taken.delete(name);
    due();
  }

  /** Cancels all timers whose name starts with `start`, and returns their number. */
  cancelUnder(start: string): number {
    const names = [...this.#taken.keys()].filter((name) => name.startsWith(start));
    for (const name of names) this.cancel(name);
    return names.length;
  }

  cancel(name: string): void {
    this.#taken.get(name)?.abort();
    this.#taken.delete(name);
  }
}
