import type { ConsumeOptions } from '../../../ports/work-queue.ts';
import type { QueueGuard } from '../../kv/guards/queue-guard.ts';
import type { StoredHandling } from '../../streams/handle-stored.ts';
import type { PullEvents, PullStream } from '../pull-stream.ts';
import type { DoneMessages } from './done-messages.ts';

/** What all partitions of one consumer share. */
export interface PartitionHost<T> extends StoredHandling<T> {
  readonly options: ConsumeOptions<T>;
  /** While the stream cannot be trusted, its messages wait. */
  readonly guard?: QueueGuard | undefined;
  /** Null when acknowledging a message removes it. */
  readonly done: DoneMessages | null;
  readonly ackWaitMs: number;
  readonly pinMs: number;
  openPull(partition: number, events: PullEvents): PullStream;
  /**
   * Gives up the pin, so that the next member gets it at once. Resolves with false when the broker did not answer. Never rejects.
   */
  unpin(partition: number): Promise<boolean>;
  /** False when another member may own the partitions of this one. */
  isIn(): boolean;
  /** The consumer or its leader is gone: cached facts about the stream may be wrong. */
  gone(): void;
}
