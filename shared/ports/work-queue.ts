import type { CommandEnvelope } from '../domain/session/envelope.ts';

/** One message out for work. `seq` grows per key; `incarnation` changes when the queue's stream is created anew. */
export interface Delivery<T> {
  readonly message: T;
  readonly seq: number;
  readonly incarnation: number;
  readonly partition: number;
  /** 1 for the first delivery. */
  readonly attempt: number;
  /** The header of this name, of whoever published it. */
  readonly traceparent?: string | undefined;
}

/**
 * What became of a delivery. `recorded`: done, and what is recorded shows it for ever, so that the same delivery again does nothing; the
 * queue may keep it a while, and may give it out again when the broker has forgotten how far it was (ADR 9). `done`: nothing shows it, so
 * it leaves the queue before it is acknowledged. `retry`: the partition waits and gets the same message again; nothing newer overtakes it.
 */
export type AckOutcome =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'done' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'dead'; readonly reason: string };

export interface ConsumeOptions<T> {
  /** This process's member name, unique. */
  readonly member: string;
  /** Called for one message of a partition at a time. A throw counts as `retry`. */
  handle(delivery: Delivery<T>): Promise<AckOutcome>;
  /** The partition is now ours. */
  acquired?(partition: number): void;
  /** The partition is no longer ours, or may not be: forget what you know of its keys, at once. */
  lost?(partition: number): void;
}

export interface Consumption {
  /** Partitions held now. */
  owned(): readonly number[];
  /** Why the consumer is not working as it should; empty when all is well. */
  problems(): readonly string[];
  /** Stops taking messages, waits for those in hand (at most `drainMs`), and hands the partitions over. */
  close(drainMs?: number): Promise<void>;
}

/** At least once, ordered per key, shared out by partition among the members that consume (§5). */
export interface WorkQueue<T> {
  /** Durable once it resolves. The same id again within two minutes is stored once (`duplicate`). */
  publish(message: T): Promise<{ seq: number; duplicate: boolean }>;
  /** Publishes at a later time; the same key and name again replaces it (a timer is a delayed command). Not earlier than `at`, up to 1 s later. */
  schedule(name: string, at: number, message: T): Promise<void>;
  /** Takes back a scheduled message that is not due yet. */
  cancel(key: string, name: string): Promise<void>;
  consume(options: ConsumeOptions<T>): Promise<Consumption>;
  /** The partition a key belongs to. */
  partitionOf(key: string): number;
  /** Messages not yet taken and done: the queue's lag. */
  lag(): Promise<number>;
}
export type CommandBus = WorkQueue<CommandEnvelope>;
