import type { Clock, DeadLetters } from '../../ports.ts';
import type { QueueBinding } from '../queue-binding.ts';
import type { DoneMessages } from './done-messages.ts';
import type { Faults } from './faults.ts';
import type { Lease, QueueMember, StoredMessage } from './queue-member.ts';
import type { Timers } from './timers.ts';

export interface MemoryWorkQueueSettings<T> {
  readonly binding: QueueBinding<T>;
  readonly partitions: number;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  /** What waits for its time. Default: the queue's own. */
  readonly timers?: Timers;
  /** Asked once per `publish` and once per `acknowledge` (an acknowledgement that fails is lost: the message comes again). */
  readonly faults?: Faults;
  readonly requestTimeoutMs?: number;
  /** As in the topology. */
  readonly ackWaitMs?: number;
  readonly pinMs?: number;
  readonly maxAckPending?: number;
  readonly duplicateWindowMs?: number;
  /** Messages stored before `publish` refuses with `overloaded`. */
  readonly maxMessages?: number;
}

/** One partition as the broker sees it. */
export interface PartitionState<T> {
  readonly number: number;
  /** Stored and not done, oldest first. */
  readonly stored: StoredMessage[];
  readonly done: DoneMessages<T>;
  readonly out: Map<number, Lease<T>>;
  owner: QueueMember<T> | null;
  /** The owner is to finish what it has in hand and then hand over. */
  handingOver: boolean;
}
