/**
 * One key of a bucket. `revision` is 0 for a key that was never written; `value` is null if there is none: never written, removed
 * or expired. A value is never empty: an empty message marks a removed or expired key.
 */
export interface Entry {
  readonly key: string;
  readonly revision: number;
  readonly value: Uint8Array | null;
}
/** With the broker's time at which it was written, ms. */
export interface Change extends Entry {
  readonly writtenAt: number;
}

export interface PutOptions {
  /** Write only if this key of the bucket (usually but not always the same one) still has this revision; 0: no value. */
  readonly fence?: { readonly key: string; readonly revision: number };
  /**
   * The entry expires after this time: whole seconds, at least one. A broker that is killed may bring back what had expired, and then keeps it
   * for good: who relies on the end of an entry checks its age.
   */
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
  changes(part: string, after: number, limit: number): Promise<{ readonly entries: readonly Change[]; readonly more: boolean }>;
  /**
   * Calls `wake` soon after a key matching `filter` was written: a key, or `<part>.>` for all below. Only a hint: it may come
   * before the write can be read, too often, or never. Returns a function that ends it.
   */
  hint(filter: string, wake: () => void): () => void;
  /** `incarnation` changes when the bucket is recreated; `now` is the broker's time, ms. */
  info(): Promise<{ readonly incarnation: number; readonly revision: number; readonly now: number }>;
}
