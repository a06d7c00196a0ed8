import type { WaitingDelivery } from '../domain/values/delivery.ts';
import type { HeldPartitions } from '../ports/presence.ts';
import type { Measured } from './telemetry/metrics.ts';

/** A running part of the system: a router, a session host, a gateway. Created in its `main.ts`, stopped by its creator. */
export interface Service extends Measured {
  /** Its name in commits, leases and the work queues. A gateway has none. */
  readonly member?: string;
  /** What is missing although it can do its work: reported to operators, and no reason to wait. */
  warnings?(): readonly string[];
  /** Where outgoing messages wait and will be sent. */
  waiting?(): readonly WaitingDelivery[];
  /** The partitions of a session host, with the time since when it has them. */
  held?(): readonly HeldPartitions[];
  /** Finishes or hands over what is in progress and stops. Resolves within `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
}
