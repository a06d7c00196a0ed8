import type { SessionKey } from '../domain/keys/session-key.ts';

/** What an erasure has removed. */
export interface Erased {
  readonly commits: number;
  /** Scheduled messages that were not due yet. */
  readonly timers: number;
  /** Completed commands that were still in their queue. */
  readonly commands: number;
  /** Delivery records. The last one of each conversation stays; it has no text (I9). */
  readonly custody: number;
  readonly deadLetters: number;
  /** Memories that came from it (A7/82). */
  readonly memories: number;
  /** Contents of attachments (ADR 27). */
  readonly attachments: number;
}

/**
 * Removes the stored data of a session. Only `natter erase` uses it, not the services: it needs rights that nothing else needs
 * (C9).
 */
export interface Eraser {
  /**
   * Removes everything recorded of the key before the erasure at `uptoSeq`, which stays. Call again with the same sequence after
   * a failure. Rejects with `invalid` when the commit at that sequence is not an erasure of this key.
   */
  erase(key: SessionKey, uptoSeq: number): Promise<Erased>;
}
