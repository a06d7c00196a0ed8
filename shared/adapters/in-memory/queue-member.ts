import { backoffMs } from '../../kit/backoff.ts';
import type { Clock } from '../../kit/clock.ts';
import { HealthProblem } from '../../kit/health-problem.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import type { ConsumeOptions } from '../../ports/work-queue.ts';
import { handleStored, handlingRetries, type StoredAckOutcome } from '../streams/handle-stored.ts';
import type { QueueBinding } from '../streams/queue-binding.ts';

/** A stored message that is not done. */
export interface QueuedMessage {
  readonly seq: number;
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly partition: number;
  deliveries: number;
}

/**
 * One message delivered to one member. The lease ends when the member answers, or when its time runs out without a sign of life.
 */
export interface Lease<T> {
  readonly message: QueuedMessage;
  readonly member: QueueMember<T>;
  /** When the broker takes the message back, on the monotonic clock. */
  until: number;
  /** The member has answered, whether or not the broker received it. */
  answered: boolean;
  readonly ended: AbortController;
}

export interface MemberHost<T> {
  readonly clock: Clock;
  readonly binding: QueueBinding<T>;
  readonly deadLetters: DeadLetters;
  readonly incarnation: number;
  /** True while the lease is in force and its member need not hand the partition over. */
  mayRetry(lease: Lease<T>): boolean;
  answer(lease: Lease<T>, fate: StoredAckOutcome): void;
}

/**
 * One process that consumes from an `InMemoryWorkQueue`. It handles the messages of a partition one after another, as the NATS
 * consumer does. A paused member is like a process under SIGSTOP: messages to it wait, and it later continues where it was
 * without knowing that time has passed.
 */
export class QueueMember<T> {
  readonly options: ConsumeOptions<T>;
  /** The partitions it believes to own. */
  readonly held = new Set<number>();
  state: 'live' | 'paused' | 'crashed' | 'closed' = 'live';
  /** False once it has left, or the others have given it up. */
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

  problems(): readonly HealthProblem[] {
    const isStill = this.state === 'crashed' || this.state === 'paused';
    return isStill ? [new HealthProblem('work_stalled', `${this.name} is ${this.state}`)] : [];
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
