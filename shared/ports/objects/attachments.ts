import type { SessionKey } from '../../domain/keys/session-key.ts';

/** A stored attachment. `place` grows with each write of it, and fences its removal. */
export interface StoredAttachment {
  readonly key: SessionKey;
  readonly digest: string;
  readonly place: number;
  /** When it was stored, or asked for again by somebody who wanted to store it. */
  readonly at: number;
}

/**
 * The contents of attachments, under the digest of their bytes and the session that they are for (ADR 27). A session's erasure removes
 * its own, and no other session ever refers to them.
 */
export interface Attachments {
  /**
   * Resolves with the SHA-256 of the content, in hexadecimal, once it is stored for good. What the session has already is not stored
   * again. `content` has at least one byte.
   */
  put(key: SessionKey, content: Uint8Array): Promise<string>;
  /** `null`: there is none, or it has been removed. Rejects with `damaged` if it is not what was stored. */
  get(key: SessionKey, digest: string): Promise<Uint8Array | null>;
  /** Those stored after a place, oldest first, and whether more follow. */
  after(place: number): Promise<{ readonly stored: readonly StoredAttachment[]; readonly more: boolean }>;
  /** All of a session. */
  of(key: SessionKey): Promise<readonly StoredAttachment[]>;
  /** Removes one so that it cannot be read on the disk either. Resolves with false if it was stored again since it was listed. */
  remove(stored: StoredAttachment): Promise<boolean>;
}

/** An attachment that is wanted again after this time is noted as wanted, so that nobody takes it for forgotten. */
export const attachmentRefreshMs = 3_600_000;
