import type { JetStreamManager } from '@nats-io/jetstream';
import { incarnationOf } from '../stream-config.ts';

/** Which life of a stream this is, asked once. */
export class Incarnation {
  readonly #manager: JetStreamManager;
  readonly #stream: string;
  readonly #changed: () => void;
  #asked: Promise<number> | null = null;
  #known = 0;

  /** `changed` is called when the stream turns out to be another one than before. */
  constructor(manager: JetStreamManager, stream: string, changed: () => void) {
    this.#manager = manager;
    this.#stream = stream;
    this.#changed = changed;
  }

  /** Asks the broker once, until `forget` is called. Rejects as the broker's client does. */
  current(): Promise<number> {
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  /** The stream may be another one: call this before its first message. */
  forget(): void {
    this.#asked = null;
  }

  async #ask(): Promise<number> {
    try {
      const incarnation = incarnationOf(await this.#manager.streams.info(this.#stream));
      if (incarnation !== this.#known) this.#changed();
      this.#known = incarnation;
      return incarnation;
    } catch (error) {
      this.forget();
      throw error;
    }
  }
}
