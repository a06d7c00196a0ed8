import type { Clock } from '../../kit/clock.ts';

interface Taken {
  readonly bytes: Uint8Array;
  readonly ended: AbortController;
}

/** Named timers: setting a name again replaces its timer. */
export class Timers {
  readonly #clock: Clock;
  readonly #taken = new Map<string, Taken>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `due` at a time (ms since 1970), unless the timer is cancelled or replaced before. `bytes`: what it is about. */
  async set(name: string, at: number, { bytes, due }: { bytes: Uint8Array; due: () => void }): Promise<void> {
    this.cancel(name);
    const taken = { bytes, ended: new AbortController() };
    this.#taken.set(name, taken);
    await this.#clock.sleep(Math.max(0, at - this.#clock.now()), taken.ended.signal);
    if (taken.ended.signal.aborted) return;
    this.#taken.delete(name);
    due();
  }

  /** Those whose name matches, token by token. */
  under(filter: string): readonly { readonly name: string; readonly bytes: Uint8Array }[] {
    const wanted = filter.split('.');
    const isUnder = (name: string): boolean =>
      name.split('.').every((token, index) => wanted[index] === '*' || wanted[index] === token);
    return [...this.#taken].filter(([name]) => isUnder(name)).map(([name, { bytes }]) => ({ name, bytes }));
  }

  /** Cancels all timers whose name matches, and returns their number. */
  cancelUnder(filter: string): number {
    const timers = this.under(filter);
    for (const { name } of timers) this.cancel(name);
    return timers.length;
  }

  cancel(name: string): void {
    this.#taken.get(name)?.ended.abort();
    this.#taken.delete(name);
  }
}
