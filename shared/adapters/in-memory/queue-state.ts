import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import type { Scheduled } from '../../ports/work-queue.ts';
import type { QueueBinding } from '../streams/queue-binding.ts';
import { InMemoryDoneMessages } from './done-messages.ts';
import type { Faults } from './faults.ts';
import type { Lease, QueuedMessage, QueueMember } from './queue-member.ts';
import type { Timers } from './timers.ts';

export interface InMemoryWorkQueueSettings<T> {
  readonly binding: QueueBinding<T>;
  readonly partitions: number;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  /** The scheduled messages. Default: the queue's own. */
  readonly timers?: Timers;
  /** Asked once per `publish` and once per `acknowledge`. A failed acknowledgement is lost: the message is delivered again. */
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
  readonly stored: QueuedMessage[];
  readonly done: InMemoryDoneMessages<T>;
  readonly out: Map<number, Lease<T>>;
  owner: QueueMember<T> | null;
  /** The owner must finish what it has been given and then hand over. */
  handingOver: boolean;
  /** Since when the owner is only finishing what another member cannot continue, on the monotonic clock. */
  finishingSince: number | null;
}

export const newPartition = <T>(number: number, clock: Clock): PartitionState<T> => ({
  number,
  stored: [],
  done: new InMemoryDoneMessages<T>(clock),
  out: new Map(),
  owner: null,
  handingOver: false,
  finishingSince: null,
});

/** Publishes with simulated faults: an unanswered message may be stored now, later or never. */
export const storedOrNot = async <R>(
  { faults, clock, requestTimeoutMs }: { faults: Faults; clock: Clock; requestTimeoutMs: number },
  store: () => R,
): Promise<R> => {
  const { fault, delayMs, lateMs } = faults.next('publish');
  if (delayMs > 0) await clock.sleep(delayMs);
  if (fault === 'none' || fault === 'stale') return store();
  if (fault === 'answer_lost') store();
  if (fault === 'landed_late') void clock.sleep(requestTimeoutMs + lateMs).then(() => store());
  if (fault !== 'unavailable') await clock.sleep(requestTimeoutMs);
  throw new NatterError('unavailable', 'the in-memory queue did not answer', { retryAfterMs: requestTimeoutMs });
};

/** How often a member is asked whether it has finished. */
const finishedEveryMs = 50;
const finishMs = 10_000;

/**
 * True while a partition stays with its owner, who is busy with what another member cannot continue: for a while. `again` is called until it
 * has ended.
 */
export const staysWithOwner = <T>(
  partition: PartitionState<T>,
  wanted: QueueMember<T> | null,
  { clock, again }: { clock: Clock; again: () => void },
): boolean => {
  const { owner, number, finishingSince } = partition;
  const isBusy = owner !== wanted && owner?.state === 'live' && (owner.options.isBusy?.(number) ?? false);
  partition.finishingSince = isBusy ? (finishingSince ?? clock.monotonic()) : null;
  if (!isBusy) return false;
  void clock.sleep(finishedEveryMs).then(again);
  return clock.monotonic() - (finishingSince ?? clock.monotonic()) < finishMs;
};

/** Resolves when the member has no message of the partition left, or does not own it any more. */
export const handedOver = async <T>(partition: PartitionState<T>, member: QueueMember<T>, clock: Clock): Promise<void> => {
  for (;;) {
    const lease = [...partition.out.values()].find((candidate) => candidate.member === member && !candidate.answered);
    if (partition.owner !== member) return;
    if (lease === undefined && !member.options.isBusy?.(partition.number)) return;
    if (lease === undefined) await clock.sleep(finishedEveryMs);
    else await new Promise((resolve) => lease.ended.signal.addEventListener('abort', resolve, { once: true }));
  }
};

/**
 * Resolves with true when a message is taken back from a member without a sign of life. A live member keeps it, however long it
 * takes (`working`).
 */
export const runsOut = async <T>(lease: Lease<T>, settings: { clock: Clock; ackWaitMs: number }): Promise<boolean> => {
  const { clock, ackWaitMs } = settings;
  lease.until = clock.monotonic() + ackWaitMs;
  while (clock.monotonic() < lease.until) {
    await clock.sleep(Math.ceil(ackWaitMs / 3), lease.ended.signal);
    if (lease.ended.signal.aborted) return false;
    if (lease.member.state === 'live' && !lease.answered) lease.until = clock.monotonic() + ackWaitMs;
  }
  return true;
};

/** The number of stored messages that are not done. */
export const notDone = <T>(partitions: readonly PartitionState<T>[]): number =>
  partitions.reduce((messages, { stored }) => messages + stored.length, 0);

/** Makes everything that is stored deliverable again, as if for the first time. */
export const forgetPosition = <T>({ stored, done, out }: PartitionState<T>): void => {
  for (const lease of out.values()) lease.ended.abort();
  out.clear();
  stored.unshift(...done.forget());
  for (const message of stored) message.deliveries = 0;
};

/** At most `limit` of what is scheduled and not due, of a key, under a name, or of both. */
export const scheduledIn = <T>(
  timers: Timers,
  { timersOf, nameOfTimer, decode }: QueueBinding<T>,
  of: { readonly key?: string; readonly name?: string },
  limit: number,
): Scheduled<T>[] => {
  const found = timers.under(timersOf(of)).slice(0, limit);
  return found.map(({ name, bytes }) => ({ name: nameOfTimer(name), message: decode(bytes) }));
};
