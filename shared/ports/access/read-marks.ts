import type { SessionKey } from '../../domain/keys/session-key.ts';

/** How far a person has read a session: to this sequence of the log. */
export interface ReadMark {
  /** A principal, or the actor of a token that speaks for nobody. Not stored, nor is the key: see `ReadMarks`. */
  readonly person: string;
  readonly key: SessionKey;
  /** 0: nothing. */
  readonly seq: number;
}

/**
 * How far each person has read each session (B24). Not part of any log: a mark that is lost shows its session as unread again. What is kept
 * is a sequence under a hash, and for `limits.unreadMs` from the last `put`.
 */
export interface ReadMarks {
  put(mark: ReadMark): Promise<void>;
  /** Keeps a copy of all marks in memory until closed; it lags by at most a second. */
  watch(): Promise<ReadMarksView>;
}

export interface ReadMarksView {
  /** The sequence of a mark; 0 without one, or when it has expired. */
  seqOf(person: string, key: SessionKey): number;
  /** Reads the latest changes now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}
