import type { SessionKey } from '../domain/keys/session-key.ts';

/** How much an erasure has removed. */
export interface Erased {
  readonly commits: number;
  /** Messages that waited for their time. */
  readonly timers: number;
  /** Commands that were done and still in their queue. */
  readonly commands: number;
  /** Custody records; the last one of each conversation stays, it has no text (I9). */
  readonly custody: number;
  readonly deadLetters: number;
  /** What was remembered of it (A7/82). */
  readonly memories: number;
}

/** Removes what is kept of a session. No service has it, only `natter erase`: it needs rights that nothing else needs (§5). */
export interface Eraser {
  /**
   * Removes all that was recorded of the key before the erasure at `uptoSeq`, which stays. To be called again after a failure, with the
   * same sequence. Rejects with `invalid` when what is recorded at that sequence is no erasure of this key.
   */
  erase(key: SessionKey, uptoSeq: number): Promise<Erased>;
}
