import type { Cursors } from '../ports/cursors.ts';

/** A reader's position that survives the process. It is written only when it has changed. */
export class DurableCursor {
  readonly #cursors: Cursors;
  readonly #name: string;
  #saved: number | null = null;

  constructor(cursors: Cursors, name: string) {
    this.#cursors = cursors;
    this.#name = name;
  }

  /** The last saved position, or 0. */
  readonly load = async (): Promise<number> => {
    this.#saved = await this.#cursors.get(this.#name);
    return this.#saved;
  };

  /** Rejects when the outcome is unknown; the next call then writes again. */
  async save(position: number): Promise<void> {
    if (position === this.#saved) return;
    await this.#cursors.put(this.#name, position);
    this.#saved = position;
  }
}
