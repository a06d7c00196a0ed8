import type { Cursors } from '../ports/cursors.ts';

/** A reader's position that outlives the process. It is written only when it has moved. */
export class DurableCursor {
  readonly #cursors: Cursors;
  readonly #name: string;
  #saved: number | null = null;

  constructor(cursors: Cursors, name: string) {
    this.#cursors = cursors;
    this.#name = name;
  }

  /** The position saved last, 0 if there is none. */
  readonly load = async (): Promise<number> => {
    this.#saved = await this.#cursors.get(this.#name);
    return this.#saved;
  };

  /** Rejects when it is not known to be stored; it is then written again with the next call. */
  async save(position: number): Promise<void> {
    if (position === this.#saved) return;
    await this.#cursors.put(this.#name, position);
    this.#saved = position;
  }
}
