/** Lines that a process keeps of its own log, and their characters together. */
const kept = { lines: 2_000, characters: 2_000_000 } as const;

/** A finished line of the log: JSON without secrets. `number` counts all lines of the process, from 1. */
export interface KeptLine {
  readonly number: number;
  readonly text: string;
}

/** The newest lines of this process's log, in memory and bounded. */
export class RecentLog {
  readonly #lines = new Map<number, string>();
  #characters = 0;
  #count = 0;

  add(text: string): void {
    this.#lines.set(++this.#count, text);
    this.#characters += text.length;
    for (const [number, { length }] of this.#lines) {
      if (this.#lines.size <= kept.lines && this.#characters <= kept.characters) break;
      this.#lines.delete(number);
      this.#characters -= length;
    }
  }

  /** How many lines there were, of which the newest are kept. */
  get count(): number {
    return this.#count;
  }

  /** The newest `limit` lines after this number that are wanted, oldest first. */
  after(number: number, limit: number, wants: (text: string) => boolean): KeptLine[] {
    const found: KeptLine[] = [];
    for (let at = this.#count; at > number && this.#lines.has(at) && found.length < limit; at--) {
      const text = this.#lines.get(at) ?? '';
      if (wants(text)) found.push({ number: at, text });
    }
    return found.reverse();
  }
}
