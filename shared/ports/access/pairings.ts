import type { ChannelPairing, PairingChange } from '../../domain/routing/pairing.ts';

/** The strangers of each channel: who waits for the owner, and who was approved (D8). Durable. */
export interface Pairings {
  /**
   * Changes the record of a channel, as the leader has it. `change` may be called again if another writer was first. Resolves with
   * its result once the change is durable.
   */
  change<T>(channel: string, change: (record: ChannelPairing) => PairingChange<T>): Promise<T>;
  /** The records of all channels that ever had one. May lag. */
  all(): Promise<ChannelPairing[]>;
}
