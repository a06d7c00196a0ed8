/** A role only one process has at a time. For economy, never for safety (F3). */
export interface Leases {
  /** Waits until the lease is ours, calls `work`, renews it meanwhile and aborts the signal when it is lost. Returns when `signal` aborts. */
  hold(name: string, member: string, signal: AbortSignal, work: (held: AbortSignal) => Promise<void>): Promise<void>;
}
