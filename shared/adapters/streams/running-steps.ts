import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { TurnRef } from '../../domain/values/types.ts';
import { limits } from '../../kit/limits.ts';
import type { Delta } from '../../ports/live.ts';

/**
 * The texts of the steps that this process is running, each as one piece from its beginning. Bounded: the least recently changed
 * one is dropped first.
 */
export class RunningSteps {
  readonly #steps = new Map<SessionKey, Delta>();
  #characters = 0;

  /** Appends a piece to its step; the first piece of another step replaces it. */
  add(key: SessionKey, delta: Delta): void {
    const known = this.#steps.get(key);
    const goesOn = known !== undefined && isSameStep(known, delta) && delta.offset === known.text.length;
    if (!goesOn && delta.offset > 0) return;
    this.#forget(key);
    const text = goesOn ? known.text + delta.text : delta.text;
    if (text.length > limits.modelOutputBytes) return;
    this.#steps.set(key, { ...delta, offset: 0, text });
    this.#characters += text.length;
    for (const oldest of this.#steps.keys()) {
      if (this.#characters <= limits.liveCharacters) break;
      this.#forget(oldest);
    }
  }

  /** Forgets the key's step if it is this attempt's. */
  end(key: SessionKey, { id, attempt }: TurnRef): void {
    const turn = this.#steps.get(key)?.turn;
    if (turn?.id === id && turn.attempt === attempt) this.#forget(key);
  }

  of(key: SessionKey): Delta | null {
    return this.#steps.get(key) ?? null;
  }

  #forget(key: SessionKey): void {
    this.#characters -= this.#steps.get(key)?.text.length ?? 0;
    this.#steps.delete(key);
  }
}

export const isSameStep = (one: Delta, other: Delta): boolean =>
  one.turn.id === other.turn.id && one.turn.attempt === other.turn.attempt && one.step === other.step;
