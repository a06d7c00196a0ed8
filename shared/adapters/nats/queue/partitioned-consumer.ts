import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, untilBeat } from '../../../kit/clock.ts';
import type { HealthProblem } from '../../../kit/health-problem.ts';
import type { DeadLetters } from '../../../ports/dead-letters.ts';
import type { ConsumeOptions, Consumption } from '../../../ports/work-queue.ts';
import { partitionConsumer, pinGroup } from '../../../wire/topology.ts';
import type { QueueGuard } from '../../kv/guards/queue-guard.ts';
import type { QueueBinding } from '../../streams/queue-binding.ts';
import { type Placement, placementOf } from '../../streams/rendezvous.ts';
import { connectionProblems } from '../client/connection.ts';
import { PullStream } from '../pull-stream.ts';
import { DoneMessages } from './done-messages.ts';
import { drainMs, HandOvers } from './hand-overs.ts';
import { Incarnation } from './incarnation.ts';
import { Membership } from './membership.ts';
import { Partition } from './partition.ts';
import { found, QueueAudit } from './queue-audit.ts';

export interface ConsumerSettings<T> {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly binding: QueueBinding<T>;
  readonly partitions: number;
  readonly ackWaitMs: number;
  readonly pinMs: number;
  /** The bucket with the members. */
  readonly bucket: string;
  /** The subject filter of a partition's messages, if the stream keeps acknowledged ones; else `null`. */
  readonly keptUnder: ((partition: number) => string) | null;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  readonly guard: QueueGuard | undefined;
}

const tickMs = 250;
const auditMs = 5_000;
/** Longer than most leader elections, shorter than the ten seconds within which problems must be reported. */
const troubleMs = 5_000;
/** A handler that takes longer than this counts as stuck, unless its queue sets another limit. */
const stuckMs = 30_000;

/**
 * Consumes one partitioned work queue as one of several members. The member chosen by rendezvous hashing requests a partition's
 * messages. When it is late its standby requests them too, and gets them as soon as the broker drops the silent member's pin.
 */
export class PartitionedConsumer<T> implements Consumption {
  readonly #settings: ConsumerSettings<T>;
  readonly #membership: Membership;
  readonly #member: string;
  readonly #partitions: readonly Partition<T>[];
  readonly #done: DoneMessages | null;
  readonly #audit: QueueAudit;
  readonly #stopped = new AbortController();
  readonly #incarnation: Incarnation;
  #connected = true;
  #closing: Promise<void> | null = null;
  readonly #handOvers: HandOvers<T>;
  #auditedAt: number;
  /** By partition; made anew when the membership changes. */
  #placements: readonly Placement[] = [];

  private constructor(settings: ConsumerSettings<T>, options: ConsumeOptions<T>) {
    const { connection, manager, binding, bucket, clock, ackWaitMs, pinMs, keptUnder, guard } = settings;
    this.#settings = settings;
    this.#member = options.member;
    this.#auditedAt = clock.monotonic();
    this.#membership = new Membership({
      ...{ connection, manager, bucket, clock, group: binding.name, member: options.member },
      changed: () => this.#place(),
    });
    this.#handOvers = new HandOvers(clock, this.#membership, {
      isBusy: (partition) => options.isBusy?.(partition) ?? false,
      isWanted: (partition) => this.#isWanted(partition),
    });
    const { stream } = binding;
    this.#audit = new QueueAudit(manager, stream, settings.partitions);
    this.#done =
      keptUnder && new DoneMessages({ manager, stream, clock, filterOf: keptUnder, isConnected: () => this.#isConnected() });
    // Marks of an earlier life of the stream are void.
    this.#incarnation = new Incarnation(manager, stream, () => this.#done?.forget());
    const host = {
      done: this.#done,
      ...{ clock, binding, options, deadLetters: settings.deadLetters, ackWaitMs, pinMs, guard },
      openPull: (partition: number, events: ConstructorParameters<typeof PullStream>[2]) =>
        new PullStream(connection, { stream, name: partitionConsumer(partition), pinMs }, events, () => clock.monotonic()),
      unpin: (partition: number) => this.#unpin(partition),
      isIn: () => this.#membership.isIn(),
      incarnation: () => this.#incarnation.current(),
      gone: () => this.#incarnation.forget(),
    };
    this.#partitions = [...Array(settings.partitions).keys()].map((partition) => new Partition(partition, host));
  }

  /** Joins the group and starts consuming. */
  static async start<T>(settings: ConsumerSettings<T>, options: ConsumeOptions<T>): Promise<PartitionedConsumer<T>> {
    const consumer = new PartitionedConsumer(settings, options);
    await consumer.#membership.join();
    // The first message would wait for it.
    void consumer.#incarnation.current().catch(() => {});
    consumer.#place();
    void consumer.#watchConnection();
    void consumer.#keepTicking();
    return consumer;
  }

  owned(): readonly number[] {
    return this.#partitions.filter(({ held }) => held).map(({ number }) => number);
  }

  problems(): readonly HealthProblem[] {
    if (this.#closing !== null) return [];
    const { binding } = this.#settings;
    const silent = this.#partitions.filter((partition) => partition.silentMs() > troubleMs);
    return [
      ...connectionProblems(this.#settings.connection),
      ...this.#membership.problems(),
      ...found(
        'consumers_missing',
        silent.map(({ number }) => number),
        `${binding.stream}: no consumer or no leader for`,
      ),
      ...(this.#done?.problems() ?? []),
      ...this.#audit.findings,
    ];
  }

  warnings(): readonly string[] {
    if (this.#closing !== null) return [];
    const { stuckMs: limitMs = stuckMs } = this.#settings.binding;
    return this.#partitions.flatMap((partition) => partition.trouble(limitMs) ?? []);
  }

  /** Tells the group first, so that the next owners are already requesting messages when the pins are given up. */
  close(drain: number = drainMs): Promise<void> {
    this.#closing ??= this.#close(drain);
    return this.#closing;
  }

  async #close(drain: number): Promise<void> {
    this.#handOvers.endBy(this.#settings.clock.monotonic() + drain);
    this.#membership.retire();
    await Promise.all(this.#partitions.map((partition) => this.#handOvers.handOver(partition).then(() => partition.ended)));
    this.#membership.leave();
    await this.#done?.close();
    this.#stopped.abort();
    this.#membership.close();
    // The last answers must be sent before the caller closes the connection.
    if (this.#isConnected())
      await Promise.race([this.#settings.connection.flush().catch(() => {}), this.#settings.clock.sleep(1_000)]);
  }

  #place(): void {
    const members = this.#membership.members();
    this.#placements = this.#partitions.map(({ number }) => placementOf(members, number));
    this.#share();
  }

  /** Opens and hands over partitions according to the membership. */
  #share(): void {
    if (this.#closing !== null) return;
    for (const partition of this.#partitions) {
      if (this.#isWanted(partition.number)) partition.open();
      // If the membership has changed again when the hand-over is done, the next tick reopens it.
      else if (partition.isOpen) void this.#handOvers.handOver(partition);
    }
  }

  #isWanted(partition: number): boolean {
    const { owner = null, standby = null } = this.#placements[partition] ?? {};
    const takesOver = standby === this.#member && owner !== null && this.#membership.isLate(owner);
    const isMine = owner === this.#member || takesOver;
    return isMine && this.#membership.isIn() && !this.#membership.isFinishing(partition);
  }

  async #keepTicking(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.#settings.clock.sleep(untilBeat(this.#settings.clock, tickMs), this.#stopped.signal);
      if (!this.#stopped.signal.aborted) this.#tick();
    }
  }

  #tick(): void {
    this.#noteConnection(this.#isConnected());
    if (!this.#membership.isIn() && this.#closing === null) this.#loseAll();
    if (!this.#connected) return;
    this.#membership.tick();
    this.#share();
    for (const partition of this.#partitions) partition.tick(this.#placements[partition.number]?.owner === this.#member);
    const now = this.#settings.clock.monotonic();
    if (now - this.#auditedAt < auditMs) return;
    this.#auditedAt = now;
    void this.#audit.look().then((unattended) => {
      for (const number of unattended) if (this.#isWanted(number)) this.#partitions[number]?.pullAgain();
    });
  }

  /** Reacts to a disconnect at once; the next tick sees anything that the events leave out. */
  async #watchConnection(): Promise<void> {
    const events = this.#settings.connection.status();
    this.#stopped.signal.addEventListener('abort', () => {
      Reflect.get(events, 'stop')?.call(events);
    });
    for await (const event of events) {
      if (event.type === 'disconnect' || event.type === 'close') this.#noteConnection(false);
      if (event.type === 'reconnect') this.#noteConnection(true);
    }
  }

  #noteConnection(isConnected: boolean): void {
    if (isConnected === this.#connected) return;
    this.#connected = isConnected;
    if (isConnected) for (const partition of this.#partitions) partition.pullAgain();
    else this.#loseAll();
    // The broker may come back with an older copy, which gives sequences out again.
    if (!isConnected) this.#done?.forget();
  }

  #loseAll(): void {
    this.#incarnation.forget();
    for (const partition of this.#partitions) partition.lose();
  }

  #isConnected(): boolean {
    return connectionProblems(this.#settings.connection).length === 0;
  }

  async #unpin(partition: number): Promise<boolean> {
    if (!this.#isConnected()) return false;
    const { manager, binding } = this.#settings;
    return manager.consumers.unpin(binding.stream, partitionConsumer(partition), pinGroup).then(
      () => true,
      () => false,
    );
  }
}
