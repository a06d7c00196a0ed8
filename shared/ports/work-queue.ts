import type { CommandEnvelope } from '../domain/session/envelope.ts';
import type { HealthProblem } from '../kit/health-problem.ts';

/** One delivered message. `seq` grows per key; `incarnation` changes when the queue's stream is recreated. */
export interface Delivery<T> {
  readonly message: T;
  readonly seq: number;
  readonly incarnation: number;
  readonly partition: number;
  /** 1 for the first delivery. */
  readonly attempt: number;
  /** When the queue stored it, ms by its own clock; absent: not known. */
  readonly storedAt?: number;
  /** The header of this name, as the publisher set it. */
  readonly traceparent?: string | undefined;
}

/**
 * What became of a delivery. `recorded`: done, and the record shows it for ever, so that the same delivery again does nothing;
 * the queue may keep it for a while, and may deliver it again when the broker has lost its acknowledgement state (ADR 9). `done`:
 * no record shows it, so it leaves the queue before it is acknowledged. `retry`: the partition waits and gets the same message
 * again; nothing newer overtakes it.
 */
export type AckOutcome =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'done' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'dead'; readonly reason: string };

export interface ConsumeOptions<T> {
  /** This process's member name, unique. */
  readonly member: string;
  /** Called for one message of a partition at a time. A rejection counts as `retry`. */
  handle(delivery: Delivery<T>): Promise<AckOutcome>;
  /** The partition is now ours. */
  acquired?(partition: number): void;
  /**
   * True while the member does something for keys of the partition that another member cannot continue. A hand-over waits until it
   * is done, at most the drain time; messages are handled meanwhile.
   */
  isBusy?(partition: number): boolean;
  /** The partition is no longer ours, or may not be: drop all cached state of its keys at once. */
  lost?(partition: number): void;
}

export interface Consumption {
  /** Partitions held now. */
  owned(): readonly number[];
  /** Why the consumer does not work as it should; empty if there is no problem. */
  problems(): readonly HealthProblem[];
  /** Single messages that hold up the others of their partition, and no reason for this member to stop. */
  warnings(): readonly string[];
  /** Stops taking messages, waits for those in progress (at most `drainMs`), and hands the partitions over. */
  close(drainMs?: number): Promise<void>;
}

/** A message that waits for its time. */
export interface Scheduled<T> {
  readonly name: string;
  readonly message: T;
}

/** At least once, ordered per key, with partitions shared among the consuming members. */
export interface WorkQueue<T> {
  /** Durable once it resolves. The same id within two minutes is stored once (`duplicate`). */
  publish(message: T): Promise<{ seq: number; duplicate: boolean }>;
  /**
   * Publishes again what became a dead letter, byte for byte. `id` takes the place of the message's own, under which the queue
   * would still refuse it: the same `id` within two minutes is stored once. Rejects with `NatterError('invalid')` for bytes that
   * are no message of this queue.
   */
  resend(bytes: Uint8Array, id: string): Promise<{ seq: number; duplicate: boolean }>;
  /**
   * Publishes at a later time: not before `at`, and up to 1 s after it. The same key and name again replaces the message (a timer
   * is a delayed command).
   */
  schedule(name: string, at: number, message: T): Promise<void>;
  /** Cancels a scheduled message that is not due yet. */
  cancel(key: string, name: string): Promise<void>;
  /**
   * At most `limit` of the messages that are scheduled and not due yet, of a key, under a name, or of both; in no order. It may miss
   * what changed a moment ago.
   */
  scheduled(of: { readonly key?: string; readonly name?: string }, limit: number): Promise<readonly Scheduled<T>[]>;
  consume(options: ConsumeOptions<T>): Promise<Consumption>;
  /** The partition a key belongs to. */
  partitionOf(key: string): number;
  /** Messages that are not done yet: the queue's lag. */
  lag(): Promise<number>;
  /** The same for each partition, without timers that are just due. */
  lagByPartition(): Promise<readonly number[]>;
}
export type CommandBus = WorkQueue<CommandEnvelope>;
