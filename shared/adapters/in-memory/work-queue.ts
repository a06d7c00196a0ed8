import { assert } from '../../kit/assert.ts';
import { NatterError } from '../../kit/errors.ts';
import type { ConsumeOptions, Consumption, WorkQueue } from '../../ports/work-queue.ts';
import type { StoredAckOutcome } from '../streams/handle-stored.ts';
import { placementOf } from '../streams/rendezvous.ts';
import { DuplicateWindow } from './duplicate-window.ts';
import { noFaults } from './faults.ts';
import { type Lease, QueueMember } from './queue-member.ts';
import {
  forgetPosition,
  handedOver,
  type InMemoryWorkQueueSettings,
  newPartition,
  notDone,
  type PartitionState,
  runsOut,
  scheduledIn,
  staysWithOwner,
  storedOrNot,
} from './queue-state.ts';
import { Timers } from './timers.ts';

/** A resumed member learns within one tick of its consumer what it has lost. */
const noticeMs = 250;

/**
 * The work queue in one process: members share this object as processes share a broker. It makes the same promises as on NATS and
 * fails on demand in the same ways. Deterministic: it uses only the injected clock and microtasks.
 */
export class InMemoryWorkQueue<T> implements WorkQueue<T> {
  readonly #settings: Required<Omit<InMemoryWorkQueueSettings<T>, 'timers'>>;
  readonly #partitions: readonly PartitionState<T>[];
  readonly #members = new Map<string, QueueMember<T>>();
  readonly #timers: Timers;
  readonly #duplicates: DuplicateWindow;
  readonly #incarnation: number;
  #lastSeq = 0;

  constructor(settings: InMemoryWorkQueueSettings<T>) {
    this.#settings = {
      ...{ ackWaitMs: 3_000, pinMs: 2_000, maxAckPending: 1, duplicateWindowMs: 120_000, maxMessages: 100_000 },
      ...{ requestTimeoutMs: 2_000, faults: noFaults },
      ...settings,
    };
    this.#partitions = [...Array(settings.partitions).keys()].map((number) => newPartition(number, settings.clock));
    this.#incarnation = settings.clock.now();
    this.#timers = settings.timers ?? new Timers(settings.clock);
    this.#duplicates = new DuplicateWindow(settings.clock, this.#settings.duplicateWindowMs);
  }

  partitionOf(key: string): number {
    return this.#settings.binding.partitionOf(key);
  }

  async publish(message: T): Promise<{ seq: number; duplicate: boolean }> {
    return storedOrNot(this.#settings, this.#storing(message));
  }

  async resend(bytes: Uint8Array, id: string): Promise<{ seq: number; duplicate: boolean }> {
    return storedOrNot(this.#settings, this.#storing(this.#settings.binding.decode(bytes), { bytes, id }));
  }

  /** Stores bytes unchecked, as any program with publish rights could. */
  inject(key: string, bytes: Uint8Array): void {
    this.#store(key, bytes);
  }

  async schedule(name: string, at: number, message: T): Promise<void> {
    const { timerSubjectOf, keyOf, encode } = this.#settings.binding;
    const bytes = encode(message);
    void this.#timers.set(timerSubjectOf(keyOf(message), name), at, { bytes, due: this.#storing(message, { bytes }) });
  }

  async cancel(key: string, name: string): Promise<void> {
    this.#timers.cancel(this.#settings.binding.timerSubjectOf(key, name));
  }

  readonly scheduled: WorkQueue<T>['scheduled'] = async (...of) => scheduledIn(this.#timers, this.#settings.binding, ...of);
  readonly lag = async (): Promise<number> => notDone(this.#partitions);
  readonly lagByPartition = async (): Promise<readonly number[]> => this.#partitions.map((one) => notDone([one]));

  async consume(options: ConsumeOptions<T>): Promise<Consumption> {
    const { clock, binding, deadLetters } = this.#settings;
    const member = new QueueMember<T>(options, {
      ...{ clock, binding, deadLetters, incarnation: this.#incarnation },
      mayRetry: (lease) => this.#isCurrent(lease) && !this.#partition(lease.message.partition).handingOver,
      answer: (lease, kind) => this.#answer(lease, kind),
    });
    this.#members.set(member.name, member);
    this.#share();
    return {
      owned: () => [...member.held].sort((left, right) => left - right),
      ...{ problems: () => member.problems(), warnings: () => [] },
      close: (drainMs = 10_000) => this.#close(member, drainMs),
    };
  }

  /** All stored messages, done or not. */
  get stored(): number {
    return this.#partitions.reduce((messages, { done }) => messages + done.size, notDone(this.#partitions));
  }

  /** Kills the process: nobody answers for its messages, and its callbacks are not called. */
  crash(name: string): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    member.state = 'crashed';
    void this.#settings.clock.sleep(this.#settings.pinMs).then(() => this.#expel(member));
  }

  /** Stops the process (SIGSTOP) without its knowledge. */
  pause(name: string): void {
    const member = this.#members.get(name);
    if (member?.state !== 'live') return;
    member.pause();
    void this.#settings.clock.sleep(this.#settings.pinMs).then(() => {
      if (member.state === 'paused') this.#expel(member);
    });
  }

  /** Continues the process where it was; a moment later it learns what it has lost. */
  resume(name: string): void {
    const member = this.#members.get(name);
    if (member?.state !== 'paused') return;
    member.resume();
    void this.#settings.clock.sleep(noticeMs).then(() => {
      if (member.state !== 'live') return;
      for (const partition of member.held) if (this.#partitions[partition]?.owner !== member) member.lose(partition);
      for (const { number, owner } of this.#partitions) if (owner === member) member.take(number);
      member.isIn = true;
      this.#share();
    });
  }

  /** Restarts the broker without consumer positions: what is stored is delivered again. Returns how many of these were done. */
  forgetPositions(): number {
    const before = notDone(this.#partitions);
    this.#partitions.forEach(forgetPosition);
    this.#share();
    return notDone(this.#partitions) - before;
  }

  /** Removes completed messages of a key up to a position, and returns their number. */
  removeDone(key: string, upTo: { seq: number; incarnation: number }): number {
    const { done } = this.#partition(this.partitionOf(key));
    return upTo.incarnation === this.#incarnation ? done.remove(this.#settings.binding.subjectOf(key), upTo.seq) : 0;
  }

  async #close(member: QueueMember<T>, drainMs: number): Promise<void> {
    if (member.state === 'crashed' || member.state === 'closed') return;
    member.isIn = false;
    this.#share();
    const drained = new AbortController();
    const idle = Promise.all(this.#partitions.map((partition) => handedOver(partition, member, this.#settings.clock)));
    await Promise.race([idle, this.#settings.clock.sleep(drainMs, drained.signal)]);
    drained.abort();
    for (const partition of member.held) member.lose(partition);
    member.state = 'closed';
    this.#expel(member);
  }

  /** Encodes the message now, and stores it when called. */
  #storing(message: T, given: { bytes?: Uint8Array; id?: string } = {}): () => { seq: number; duplicate: boolean } {
    const { idOf, keyOf, encode } = this.#settings.binding;
    const [key, { id = idOf(message), bytes = encode(message) }] = [keyOf(message), given];
    return () => this.#duplicates.once(id, () => this.#store(key, bytes));
  }

  #store(key: string, bytes: Uint8Array): number {
    const { binding, maxMessages } = this.#settings;
    if (notDone(this.#partitions) >= maxMessages)
      throw new NatterError('overloaded', `the queue ${binding.stream} is full`, { retryAfterMs: 1_000 });
    const partition = this.#partition(binding.partitionOf(key));
    const seq = ++this.#lastSeq;
    partition.stored.push({ seq, subject: binding.subjectOf(key), bytes, partition: partition.number, deliveries: 0 });
    this.#pump(partition);
    return seq;
  }

  /** Delivers as many messages as may be out at a time, oldest first. */
  #pump(partition: PartitionState<T>): void {
    const { owner, handingOver, out, stored } = partition;
    if (owner === null || handingOver) return;
    for (const message of stored) {
      if (out.size >= this.#settings.maxAckPending) return;
      if (out.has(message.seq)) continue;
      message.deliveries += 1;
      const lease: Lease<T> = { message, member: owner, until: 0, answered: false, ended: new AbortController() };
      out.set(message.seq, lease);
      void runsOut(lease, this.#settings).then((isOver) => isOver && this.#end(lease));
      owner.deliver(lease);
    }
  }

  #answer(lease: Lease<T>, fate: StoredAckOutcome): void {
    if (!this.#isCurrent(lease)) return;
    lease.answered = true;
    if (fate !== 'retry' && this.#settings.faults.next('acknowledge').fault !== 'none') return;
    const { stored, done } = this.#partition(lease.message.partition);
    if (fate !== 'retry') stored.splice(stored.indexOf(lease.message), 1);
    if (fate === 'recorded') done.keep(lease.message, lease.member);
    this.#end(lease);
  }

  #end(lease: Lease<T>): void {
    const partition = this.#partition(lease.message.partition);
    partition.out.delete(lease.message.seq);
    lease.ended.abort('ended');
    if (partition.handingOver) this.#place(partition);
    else this.#pump(partition);
  }

  /** False for a member that is gone or has lost the message: its answer no longer counts. */
  #isCurrent(lease: Lease<T>): boolean {
    return lease.member.state === 'live' && this.#partition(lease.message.partition).out.get(lease.message.seq) === lease;
  }

  #share(): void {
    for (const partition of this.#partitions) this.#place(partition);
  }

  /** Brings ownership in line with the members. A live owner hands over after it has finished its messages. */
  #place(partition: PartitionState<T>): void {
    const present = [...this.#members.values()].filter(({ isIn }) => isIn).map(({ name }) => name);
    const { owner } = placementOf(present, partition.number);
    const wanted = owner === null ? null : (this.#members.get(owner) ?? null);
    const isKept = staysWithOwner(partition, wanted, { clock: this.#settings.clock, again: () => this.#place(partition) });
    partition.handingOver = !isKept && partition.owner !== wanted && partition.owner !== null && partition.out.size > 0;
    if (partition.owner !== wanted && !isKept && !partition.handingOver) {
      if (partition.owner?.state === 'live') partition.owner.lose(partition.number);
      partition.owner = wanted;
      if (wanted?.state === 'live') wanted.take(partition.number);
    }
    this.#pump(partition);
  }

  /** Removes a silent member: its partitions go to others at once, its messages when their leases run out. */
  #expel(member: QueueMember<T>): void {
    member.isIn = false;
    for (const partition of this.#partitions) if (partition.owner === member) partition.owner = null;
    if (member.state !== 'paused') this.#members.delete(member.name);
    this.#share();
  }

  #partition(number: number): PartitionState<T> {
    const partition = this.#partitions[number];
    assert(partition !== undefined, `there is no partition ${number}`);
    return partition;
  }
}
