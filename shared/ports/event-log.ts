import type { SessionKey } from '../domain/keys/session-key.ts';
import type { Commit, RecordedCommit } from '../domain/session/envelope.ts';
import type { EventType } from '../domain/session/events.ts';
import type { LogView } from '../domain/session/log-witness.ts';

/** The outcome of one append. `unknown`: a conflict, a timeout or no leader; only a read from the leader can tell (F14). */
export type AppendResult =
  | { readonly kind: 'stored'; readonly seq: number; readonly digest: string }
  | { readonly kind: 'unknown'; readonly cause: string }
  | { readonly kind: 'refused'; readonly message: string };

/** State of the whole log. `incarnation` changes when the stream is recreated. */
export interface LogInfo {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly incarnation: number;
}

/** A message of the log as it is stored, which may be no commit at all. `key` is what its subject says. */
export interface StoredCommit {
  readonly key: string;
  readonly seq: number;
  /** When the broker stored it, ms. */
  readonly recordedAt: number;
  readonly bytes: Uint8Array;
}

export interface FollowOptions {
  /** Yields commits with a greater sequence. */
  readonly after: number;
  /** Only this key. */
  readonly key?: SessionKey;
  /** Only commits with one of these headlines. */
  readonly headlines?: readonly EventType[];
  readonly signal: AbortSignal;
  /** Minimum milliseconds between two reads: trades latency for less work under load. Default 0. */
  readonly pauseMs?: number;
}

export interface EventLog {
  /** Appends one commit if `expectedSeq` is still the key's last sequence (0: no commit yet). Never rejects. */
  append(commit: Commit, expectedSeq: number): Promise<AppendResult>;
  /**
   * The key's last commit, read from the leader: never stale. `null`: nothing was ever stored under the key. Throws `damaged` when something is
   * that the broker cannot read, `quarantined` when it is not a commit.
   */
  last(key: SessionKey): Promise<RecordedCommit | null>;
  /** The newest message under a headline, readable or not, read from the leader. `null`: there is none. */
  newest(headline: EventType): Promise<StoredCommit | null>;
  /** How many messages the leader has under the key, readable or not. */
  count(key: SessionKey): Promise<number>;
  /** The key's commits with `after < seq <= upTo`, oldest first. May lag behind the leader. */
  read(key: SessionKey, options?: { after?: number; upTo?: number }): AsyncIterable<RecordedCommit>;
  /** Commits of all keys after a sequence, oldest first, up to `limit`, and whether more follow. */
  page(options: { after: number; limit: number; key?: SessionKey }): Promise<{ commits: RecordedCommit[]; more: boolean }>;
  /**
   * The messages after a sequence as they are stored, readable or not, oldest first, up to `limit`, and whether more follow. The places of
   * lost commits are left out.
   */
  raw(options: { after: number; limit: number; key?: SessionKey }): Promise<{ messages: StoredCommit[]; more: boolean }>;
  /**
   * All commits after a sequence, first from history and then live, without a gap, until the signal aborts. Survives broker
   * outages.
   */
  follow(options: FollowOptions): AsyncIterable<RecordedCommit>;
  info(): Promise<LogInfo>;
  /** The end of the log and the digest of the commit at a sequence, read from the leader: to compare with what was seen (I13). */
  view(seq: number): Promise<LogView>;
}
