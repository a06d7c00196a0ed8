import { NatterError } from '../../shared/kit/errors.ts';

/** How many places there are, for all callers together and for each of them. */
export interface Room {
  readonly all: number;
  readonly each: number;
}

/** Places for what callers keep open here. Nobody gets all of them, so that the others find one too (I11). */
export class Places {
  readonly #room: Room;
  readonly #full: string;
  readonly #taken = new Map<string, number>();
  #all = 0;

  /** `full` is what a caller is told for whom there is none. */
  constructor(room: Room, full: string) {
    this.#room = room;
    this.#full = full;
  }

  get taken(): number {
    return this.#all;
  }

  /** Takes a place for the actor until the returned function is called, once. Throws `NatterError('overloaded')`. */
  take(actor: string): () => void {
    const own = this.#taken.get(actor) ?? 0;
    if (this.#all >= this.#room.all || own >= this.#room.each) throw new NatterError('overloaded', this.#full);
    this.#count(actor, 1);
    return () => this.#count(actor, -1);
  }

  #count(actor: string, change: number): void {
    const own = (this.#taken.get(actor) ?? 0) + change;
    if (own === 0) this.#taken.delete(actor);
    else this.#taken.set(actor, own);
    this.#all += change;
  }
}
