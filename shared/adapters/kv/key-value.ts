/**
 * One key of a bucket. `revision` is 0 for a key that was never written; `value` is null if there is none: never written, removed
 * or expired. A value is never empty: an empty message marks a removed or expired key.
 */
export interface Entry {
  readonly key: string;
  readonly revision: number;
  readonly value: Uint8Array | null;
}

export interface PutOptions {
  /** Write only if this key of the bucket (usually but not always the same one) still has this revision; 0: no value. */
  readonly fence?: { readonly key: string; readonly revision: number };
  /** The entry expires after this time: whole seconds, at least one. */
  readonly ttlMs?: number;
}

/**
 * A bucket: the newest value of each key, numbered by one sequence for the whole bucket. Keys come from `bucketKey`. Caches and
 * leases are written once against this interface, with an in-memory and a NATS store behind it. Every method rejects with
 * `unavailable` when the broker does not answer in time.
 */
export interface KeyValue {
  /** From the leader: never stale. */
  read(key: string): Promise<Entry>;
  /** From any replica: cheaper on a cluster, may be stale. */
  peek(key: string): Promise<Entry>;
  /**
   * Writes a value, or removes it with `null`. Resolves with the new revision, or with `null` if the fence does not hold. An
   * ambiguous outcome is resolved by reading the key from the leader: the same bytes there mean that this write, or an equal one,
   * has landed.
   */
  put(key: string, value: Uint8Array | null, options?: PutOptions): Promise<number | null>;
  /** Changes under `<part>.` after a revision, oldest first, at most `limit` entries, and whether more follow. May lag. */
  changes(part: string, after: number, limit: number): Promise<{ readonly entries: readonly Entry[]; readonly more: boolean }>;
  /**
   * Calls `wake` soon after a key matching `filter` was written: a key, or `<part>.>` for all below. Only a hint: it may come
   * before the write can be read, too often, or never. Returns a function that ends it.
   */
  hint(filter: string, wake: () => void): () => void;
  /** `incarnation` changes when the bucket is recreated. */
  info(): Promise<{ readonly incarnation: number; readonly revision: number }>;
}
