import type { Clock } from '../../kit/clock.ts';
import { errorMessage } from '../../kit/errors.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import type { AckOutcome, ConsumeOptions } from '../../ports/work-queue.ts';
import type { QueueBinding } from './queue-binding.ts';

export interface StoredHandling<T> {
  readonly binding: QueueBinding<T>;
  readonly options: Pick<ConsumeOptions<T>, 'handle'>;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  /** When the stream was created, ms. Rejects when the broker does not answer. */
  incarnation(): Promise<number>;
}
/** A message as it is stored in its stream. */
export interface StoredDelivery {
  readonly seq: number;
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly partition: number;
  readonly attempt: number;
  readonly storedAt?: number;
  readonly traceparent?: string | undefined;
}

/** The waits before a message that failed is handled again. */
export const handlingRetries = { firstMs: 50, mostMs: 2_000 };

/** The outcome once dead letters have been stored. */
export type StoredAckOutcome = 'recorded' | 'done' | 'retry';

/**
 * Handles a message of a work queue once. A message that nobody can process becomes a dead letter and is done. A rejection counts
 * as `retry`.
 */
export const handleStored = async <T>(
  handling: StoredHandling<T>,
  stored: StoredDelivery,
  failed: (reason: string) => void = () => {},
): Promise<StoredAckOutcome> => {
  try {
    const verdict = await judge(handling, stored);
    if (verdict.kind === 'retry') failed('not possible now');
    if (verdict.kind !== 'dead') return verdict.kind;
    await bury(handling, stored, verdict.reason);
    return 'done';
  } catch (error) {
    failed(errorMessage(error));
    return 'retry';
  }
};

const judge = async <T>({ binding, options, incarnation }: StoredHandling<T>, stored: StoredDelivery): Promise<AckOutcome> => {
  const { seq, subject, bytes, partition, attempt, storedAt, traceparent } = stored;
  let message: T;
  try {
    message = binding.decode(bytes);
  } catch (error) {
    return { kind: 'dead', reason: errorMessage(error) };
  }
  // Messages of one key in two partitions would mean that the key has two owners.
  const key = binding.keyOf(message);
  const home = binding.partitionOf(key);
  if (home !== partition) return { kind: 'dead', reason: `its key belongs to partition ${home}` };
  // Who may publish on one subject alone must not speak for another channel or session.
  const published = binding.subjectOf(key);
  if (!isFrom(published, subject, partition)) return { kind: 'dead', reason: `its key belongs on the subject ${published}` };
  const place = { seq, incarnation: await incarnation(), ...(storedAt !== undefined && { storedAt }) };
  return options.handle({ message, ...place, partition, attempt, traceparent });
};

/** True if a message published on this subject is stored under that one: in a stream, with the partition as a token of its own. */
const isFrom = (published: string, stored: string, partition: number): boolean => {
  if (stored === published) return true;
  const tokens = published.split('.');
  return tokens.some((_, at) => tokens.toSpliced(at, 0, String(partition)).join('.') === stored);
};

/** The id derives from the message, so that a letter stored twice is recognised. */
const bury = async <T>(handling: StoredHandling<T>, { seq, subject, bytes }: StoredDelivery, reason: string): Promise<void> => {
  const { binding, clock, deadLetters } = handling;
  const id = `${binding.stream}-${await handling.incarnation()}-${seq}`;
  await deadLetters.put({ id, service: binding.service, reason, subject, at: clock.now(), bytes });
};
