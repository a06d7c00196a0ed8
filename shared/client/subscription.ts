import type { StreamItem } from './types.ts';

/** Limits for items that wait for a reader: their number and characters. Beyond them the subscription pauses. */
const waitingItems = 1_000;
const waitingCharacters = 4 * 1024 * 1024;

/** The buffer between the gateway and the reader of one subscription. It is bounded and knows the position to resume from. */
export class Subscription {
  /** Parameters of the `subscribe` call, without `after`. */
  readonly #params: object;
  readonly #items: { readonly item: StreamItem; readonly characters: number }[] = [];
  #characters = 0;
  #after: string | undefined;
  #failure: unknown;
  #isOver = false;
  #changed = (): void => {};
  #begun = (): void => {};
  /** Resolves once the gateway has accepted it. Rejects with the reason of a refusal. */
  readonly begun = new Promise<void>((resolve) => {
    this.#begun = resolve;
  }).then(() => {
    if (this.#failure !== undefined) throw this.#failure;
  });
  /** The connection on which it was last requested. */
  askedOn: object | null = null;
  /** Number of consecutive transient refusals. */
  refusals = 0;
  /** True after it was unsubscribed because it was full, until its reader has caught up. */
  isLetGo = false;

  constructor(params: object, after: string | undefined) {
    this.#params = params;
    this.#after = after;
    this.begun.catch(() => {});
  }

  /** Parameters that resume it from its position. */
  get params(): object {
    return { ...this.#params, ...(this.#after !== undefined && { after: this.#after }) };
  }
  get isFull(): boolean {
    return this.#items.length >= waitingItems || this.#characters >= waitingCharacters;
  }

  /** The gateway has accepted it at this position. */
  begin(place: string): void {
    this.#after = place;
    this.#begun();
  }
  /** Adds the item of one frame. `place` is the position after it, if it has one. */
  push(item: StreamItem, characters: number, place?: string): void {
    this.refusals = 0;
    this.#after = place ?? this.#after;
    this.#items.push({ item, characters });
    this.#characters += characters;
    this.#changed();
  }
  /** Ends the subscription. With a failure, the reader still gets the waiting items first. */
  end(failure?: unknown): void {
    if (failure === undefined) this.#items.length = 0;
    this.#failure ??= failure;
    this.#isOver = true;
    this.#begun();
    this.#changed();
  }

  /** Yields waiting and future items. `emptied` is called whenever none are left. */
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
