import { backoffMs } from '../../kit/backoff.ts';
import type { Clock } from '../../kit/clock.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import type { ConsumeOptions } from '../../ports/work-queue.ts';
import { handleStored, handlingRetries, type StoredAckOutcome } from '../streams/handle-stored.ts';
import type { QueueBinding } from '../streams/queue-binding.ts';

/** A message that is stored and not done. */
export interface QueuedMessage {
  readonly seq: number;
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly partition: number;
  deliveries: number;
}

/** One message out with one member. It ends when it is answered, or when its time runs out without a sign of life. */
export interface Lease<T> {
  readonly message: QueuedMessage;
  readonly member: QueueMember<T>;
  /** When the broker takes it back, on the monotonic clock. */
  until: number;
  /** The member is done with it, whether or not the broker has heard so. */
  answered: boolean;
  readonly ended: AbortController;
}

export interface MemberHost<T> {
  readonly clock: Clock;
  readonly binding: QueueBinding<T>;
  readonly deadLetters: DeadLetters;
  readonly incarnation: number;
  /** True while the lease is in force and its member is not asked to hand the partition over. */
  mayRetry(lease: Lease<T>): boolean;
  answer(lease: Lease<T>, fate: StoredAckOutcome): void;
}

/**
 * One process that consumes from a `MemoryWorkQueue`. It handles the messages of a partition one after another, as the NATS consumer does.
 * Paused, it is a process under SIGSTOP: what was sent to it waits in its socket, and it goes on where it was, not knowing better.
 */
export class QueueMember<T> {
  readonly options: ConsumeOptions<T>;
  /** Partitions it believes to have. */
  readonly held = new Set<number>();
  state: 'live' | 'paused' | 'crashed' | 'closed' = 'live';
  /** False once the others have given it up, or it has left. */
  isIn = true;
  readonly #host: MemberHost<T>;
  readonly #work = new Map<number, Promise<void>>();
  #resumed: Promise<void> = Promise.resolve();
  #resume: () => void = () => {};

  constructor(options: ConsumeOptions<T>, host: MemberHost<T>) {
    this.options = options;
    this.#host = host;
  }

  get name(): string {
    return this.options.member;
  }

  pause(): void {
    this.state = 'paused';
    this.#resumed = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.state = 'live';
    this.#resume();
  }

  take(partition: number): void {
    if (this.held.has(partition)) return;
    this.held.add(partition);
    this.options.acquired?.(partition);
  }

  lose(partition: number): void {
    if (this.held.delete(partition)) this.options.lost?.(partition);
  }

  deliver(lease: Lease<T>): void {
    const { partition } = lease.message;
    const before = this.#work.get(partition) ?? Promise.resolve();
    this.#work.set(
      partition,
      before.then(() => this.#settle(lease)),
    );
  }

  async #settle(lease: Lease<T>): Promise<void> {
    await this.#resumed;
    let fate = await this.#attempt(lease, 0);
    for (let failures = 1; fate === 'retry' && this.#host.mayRetry(lease); failures += 1) {
      await this.#host.clock.sleep(backoffMs(handlingRetries, failures), lease.ended.signal);
      await this.#resumed;
      if (this.#host.mayRetry(lease)) fate = await this.#attempt(lease, failures);
    }
    await this.#resumed;
    this.#host.answer(lease, fate);
  }

  async #attempt({ message }: Lease<T>, failures: number): Promise<StoredAckOutcome> {
    if (this.state === 'crashed') return 'retry';
    const { incarnation, ...host } = this.#host;
    const handling = { ...host, options: this.options, incarnation: async () => incarnation };
    return handleStored(handling, { ...message, attempt: message.deliveries + failures });
  }
}
