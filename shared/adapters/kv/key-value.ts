/**
 * One key of a bucket. `revision` is 0 for a key never written; `value` is null where there is nothing: never written, removed or expired.
 * A value is never empty: a message without content marks a removed or expired key.
 */
export interface Entry {
  readonly key: string;
  readonly revision: number;
  readonly value: Uint8Array | null;
}

export interface PutOptions {
  /** Write only if this key of the bucket (often, not always, the same one) still has this revision; 0: there is nothing. */
  readonly fence?: { readonly key: string; readonly revision: number };
  /** The entry goes away by itself after this time: whole seconds, at least one. */
  readonly ttlMs?: number;
}

/**
 * A bucket: the newest value of each key, numbered by one sequence for the whole bucket. Keys come from `bucketKey`. The caches and leases
 * are written once, against this; memory and NATS each have a store behind it. Every method rejects with `NatterError('unavailable')` when
 * the broker does not answer in time.
 */
export interface KeyValue {
  /** From the leader: never stale. */
  read(key: string): Promise<Entry>;
  /** From any replica: cheaper on a cluster, may be stale. */
  peek(key: string): Promise<Entry>;
  /**
   * Writes a value, or with `null` removes it. Resolves with the new revision, or with `null` if the fence does not hold. An ambiguous
   * outcome is resolved by reading the key from the leader: the same bytes there mean that this write, or its equal, has landed.
   */
  put(key: string, value: Uint8Array | null, options?: PutOptions): Promise<number | null>;
  /** What changed under `<part>.` after a revision, oldest first, at most `limit` entries, and whether there is more. May lag. */
  changes(part: string, after: number, limit: number): Promise<{ readonly entries: readonly Entry[]; readonly more: boolean }>;
  /**
   * Calls `wake` soon after somebody wrote a key that `filter` names: a key, or `<part>.>` for all below. Only a hint: it may come before
   * the write can be read, too often, or never. Returns the way to end it.
   */
  hint(filter: string, wake: () => void): () => void;
  /** `incarnation` changes when the bucket is created anew. */
  info(): Promise<{ readonly incarnation: number; readonly revision: number }>;
}
