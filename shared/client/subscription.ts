import type { StreamItem } from './types.ts';

/** Items and their characters that wait for a reader, beyond which nothing more is taken. */
const waitingItems = 1_000;
const waitingCharacters = 4 * 1024 * 1024;

/** What one subscription has got and its reader has not taken yet: bounded, and it knows where to go on. */
export class Subscription {
  /** As the gateway takes it. */
  readonly #params: object;
  readonly #items: { readonly item: StreamItem; readonly characters: number }[] = [];
  #characters = 0;
  #after: string | undefined;
  #failure: unknown;
  #isOver = false;
  #changed = (): void => {};
  #begun = (): void => {};
  /** Resolves once the gateway has taken it, and rejects with what it was refused for. */
  readonly begun = new Promise<void>((resolve) => {
    this.#begun = resolve;
  }).then(() => {
    if (this.#failure !== undefined) throw this.#failure;
  });
  /** The connection on which the gateway was asked for it last. */
  askedOn: object | null = null;
  /** How often it was refused in a row by what time mends. */
  refusals = 0;
  /** It was full and is let go until its reader has come by. */
  isLetGo = false;

  constructor(params: object, after: string | undefined) {
    this.#params = params;
    this.#after = after;
    this.begun.catch(() => {});
  }

  /** What to subscribe with, so that it goes on where it is. */
  get params(): object {
    return { ...this.#params, ...(this.#after !== undefined && { after: this.#after }) };
  }
  /** There is no room for more. */
  get isFull(): boolean {
    return this.#items.length >= waitingItems || this.#characters >= waitingCharacters;
  }

  /** The gateway has taken it, and it stands after this place. */
  begin(place: string): void {
    this.#after = place;
    this.#begun();
  }
  /** Takes the item of one frame, and the place after it, if it has one. */
  push(item: StreamItem, characters: number, place?: string): void {
    this.refusals = 0;
    this.#after = place ?? this.#after;
    this.#items.push({ item, characters });
    this.#characters += characters;
    this.#changed();
  }
  /** Nothing more comes. Before a failure what waits is handed out. */
  end(failure?: unknown): void {
    if (failure === undefined) this.#items.length = 0;
    this.#failure ??= failure;
    this.#isOver = true;
    this.#begun();
    this.#changed();
  }

  /** Hands out what there is and what comes. `emptied` is called whenever there is nothing left to hand out. */
  async *items(emptied: () => void): AsyncGenerator<StreamItem, void> {
    for (;;) {
      const next = this.#items.shift();
      if (next !== undefined) {
        this.#characters -= next.characters;
        yield next.item;
        continue;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isOver) return;
      const changed = new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
      emptied();
      await changed;
    }
  }
}
