import type { SessionKey } from '../domain/keys/session-key.ts';
import type { TurnRef } from '../domain/values/types.ts';

/** A piece of an answer in progress. Not a fact, and may be lost. `offset` is in characters from the start of the step's text. */
export interface Delta {
  readonly turn: TurnRef;
  readonly step: number;
  readonly offset: number;
  readonly text: string;
}

export interface Live {
  /** Sends the delta to subscribers, and keeps the text of the step until the next step, for late subscribers. */
  publish(key: SessionKey, delta: Delta): void;
  /** The attempt writes no more text in this step: new subscribers find it in the log. */
  ended(key: SessionKey, turn: TurnRef): void;
  /**
   * The running step's text from its beginning and everything that follows, without gaps or repeats. A new attempt starts over.
   */
  subscribe(key: SessionKey, signal: AbortSignal): AsyncIterable<Delta>;
}
