/** A role that one process has at a time. It saves work; safety never depends on it (F3). */
export interface Leases {
  /**
   * Waits for the lease, then calls `work` and renews the lease meanwhile. The signal passed to `work` aborts when the lease is
   * lost. Returns when `signal` aborts.
   */
  hold(name: string, member: string, signal: AbortSignal, work: (held: AbortSignal) => Promise<void>): Promise<void>;
}
