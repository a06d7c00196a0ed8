import { messageOf } from '../../kit/errors.ts';
import type { Clock, ConsumeOptions, DeadLetters, Verdict } from '../../ports.ts';
import type { QueueBinding } from '../queue-binding.ts';

/** A message that is stored and not done. */
export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly partition: number;
  deliveries: number;
}

/** One message out with one member. It ends when it is answered, or when its time runs out without a sign of life. */
export interface Lease<T> {
  readonly message: StoredMessage;
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
  answer(lease: Lease<T>, kind: 'done' | 'again'): void;
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
    let isDone = await this.#attempt(lease, 0);
    for (let failures = 1; !isDone && this.#host.mayRetry(lease); failures += 1) {
      await this.#host.clock.sleep(Math.min(2_000, 50 * 2 ** Math.min(failures, 6)), lease.ended.signal);
      await this.#resumed;
      if (this.#host.mayRetry(lease)) isDone = await this.#attempt(lease, failures);
    }
    await this.#resumed;
    this.#host.answer(lease, isDone ? 'done' : 'again');
  }

  async #attempt(lease: Lease<T>, failures: number): Promise<boolean> {
    if (this.state === 'crashed') return false;
    try {
      const verdict = await this.#handle(lease.message, failures);
      if (verdict.kind === 'dead') await this.#bury(lease.message, verdict.reason);
      return verdict.kind !== 'retry';
    } catch {
      return false;
    }
  }

  async #handle({ seq, bytes, partition, deliveries }: StoredMessage, failures: number): Promise<Verdict> {
    const { binding, incarnation } = this.#host;
    let message: T;
    try {
      message = binding.decode(bytes);
    } catch (error) {
      return { kind: 'dead', reason: messageOf(error) };
    }
    const home = binding.partitionOf(binding.keyOf(message));
    if (home !== partition) return { kind: 'dead', reason: `its key belongs to partition ${home}` };
    return this.options.handle({ message, seq, incarnation, partition, attempt: deliveries + failures });
  }

  async #bury({ seq, subject, bytes }: StoredMessage, reason: string): Promise<void> {
    const { binding, incarnation, clock, deadLetters } = this.#host;
    const id = `${binding.stream}-${incarnation}-${seq}`;
    await deadLetters.put({ id, service: binding.service, reason, subject, at: clock.now(), bytes });
  }
}
