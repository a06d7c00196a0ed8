import type { SessionKey } from '../domain/keys/session-key.ts';
import type { TurnRef } from '../domain/values/types.ts';

/** A piece of an answer in the making: no fact, lost on purpose (§3). `offset` is in characters from the start of the step's text. */
export interface Delta {
  readonly turn: TurnRef;
  readonly step: number;
  readonly offset: number;
  readonly text: string;
}

export interface Live {
  /** Tells whoever listens, and keeps the text of the step until its next one, for those who come later. */
  publish(key: SessionKey, delta: Delta): void;
  /** The attempt writes no more of its step: who comes now finds it in the log. */
  ended(key: SessionKey, turn: TurnRef): void;
  /** The running step's text from its beginning, whenever one comes, and what follows: no gap, nothing twice. A new attempt begins anew. */
  subscribe(key: SessionKey, signal: AbortSignal): AsyncIterable<Delta>;
}
