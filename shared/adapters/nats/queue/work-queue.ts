import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { InboundEnvelope } from '../../../domain/routing/inbound-envelope.ts';
import type { CheckpointRequest, CommandEnvelope } from '../../../domain/session/envelope.ts';
import { backoffMs } from '../../../kit/backoff.ts';
import type { Clock } from '../../../kit/clock.ts';
import { NatterError } from '../../../kit/errors.ts';
import { escapeText } from '../../../kit/text/escape-text.ts';
import type { DeadLetters } from '../../../ports/dead-letters.ts';
import type { ConsumeOptions, Consumption, Scheduled, WorkQueue } from '../../../ports/work-queue.ts';
import { traceHeader } from '../../../wire/cloudevents.ts';
import type { Subjects } from '../../../wire/subjects.ts';
import { bucketNames, partitionConsumer, type StreamSpec, type Topology } from '../../../wire/topology.ts';
import type { QueueGuard } from '../../kv/guards/queue-guard.ts';
import { ungrouped } from '../../streams/group-commit.ts';
import { checkpointBinding, commandBinding, inboundBinding, type QueueBinding } from '../../streams/queue-binding.ts';
import { failureOf, toNatterError } from '../client/broker-errors.ts';
import { ReplyInbox, type Stored } from '../client/reply-inbox.ts';
import { Anchors } from '../publish/anchors.ts';
import { AtomicPublisher, groupingOf } from '../publish/atomic-publisher.ts';
import { forwardDueTimers } from './due-timers.ts';
import { PartitionedConsumer } from './partitioned-consumer.ts';
import { readScheduled } from './read-scheduled.ts';

export interface WorkQueueSettings {
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  /** The topology the broker was provisioned with. */
  readonly topology: Topology;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  /** Timeout of one request; publishing makes several. */
  readonly requestTimeoutMs: number;
  /** That of a stream that may not go back unnoticed. */
  readonly guardOf?: (stream: string) => QueueGuard | undefined;
}

export const commandQueue = (settings: WorkQueueSettings): WorkQueue<CommandEnvelope> =>
  new NatsWorkQueue(commandBinding(settings.subjects, settings.topology.partitions), settings);

export const inboundQueue = (settings: WorkQueueSettings): WorkQueue<InboundEnvelope> =>
  new NatsWorkQueue(inboundBinding(settings.subjects, settings.topology.partitions), settings);

/** The queue of checkpoint requests. */
export const checkpointQueue = (settings: WorkQueueSettings): WorkQueue<CheckpointRequest> =>
  new NatsWorkQueue(checkpointBinding(settings.subjects, settings.topology.partitions), settings);

/** How long publishing is retried: long enough for most leader elections. */
const publishBudgetMs = 5_000;
const publishRetries = { firstMs: 50, mostMs: 1_000 };
/** The broker drops a cancelled timer after this; its minimum. */
const cancelledTtl = '1s';
/** No later time works: the broker counts nanoseconds in 64 bits, and a time after 2262 is due at once. */
const never = Date.parse('2200-01-01T00:00:00Z');

const schedule = (at: number, target: string): Record<string, string> => ({
  'Nats-Schedule': `@at ${new Date(Math.min(at, never)).toISOString()}`,
  'Nats-Schedule-Target': target,
});

/** A queue's stream with one `pinned_client` consumer per partition, all created by `provision`. */
class NatsWorkQueue<T extends { readonly traceparent?: string | undefined }> implements WorkQueue<T> {
  readonly #binding: QueueBinding<T>;
  readonly #settings: WorkQueueSettings;
  readonly #inbox: ReplyInbox;
  readonly #publisher: AtomicPublisher;
  readonly #manager: Promise<JetStreamManager>;
  readonly #guard: QueueGuard | undefined;
  readonly #timerGuard: QueueGuard | undefined;
  readonly #anchors: Anchors;
  readonly #timerAnchors: Anchors;

  constructor(binding: QueueBinding<T>, settings: WorkQueueSettings) {
    this.#binding = binding;
    this.#settings = settings;
    this.#guard = settings.guardOf?.(binding.stream);
    this.#timerGuard = settings.guardOf?.(binding.timerStream);
    this.#inbox = new ReplyInbox(settings.connection);
    const { clock, requestTimeoutMs: timeoutMs } = settings;
    const grouping = this.#stream?.batches ? groupingOf(this.#stream.replicas) : ungrouped;
    this.#publisher = new AtomicPublisher({ inbox: this.#inbox, clock, timeoutMs, grouping });
    this.#manager = jetstreamManager(settings.connection, { checkAPI: false, timeout: settings.requestTimeoutMs });
    const anchorsOf = (stream: string): Anchors => {
      const subject = settings.topology.streams.find(({ name }) => name === stream)?.anchor;
      return new Anchors({ ...settings, inbox: this.#inbox, manager: this.#manager, stream, subject });
    };
    this.#anchors = anchorsOf(binding.stream);
    this.#timerAnchors = anchorsOf(binding.timerStream);
  }

  partitionOf(key: string): number {
    return this.#binding.partitionOf(key);
  }

  async publish(message: T): Promise<{ seq: number; duplicate: boolean }> {
    const { subjectOf, keyOf, idOf, encode } = this.#binding;
    return this.#publish(subjectOf(keyOf(message)), encode(message), idOf(message), traceHeader(message));
  }

  async resend(bytes: Uint8Array, id: string): Promise<{ seq: number; duplicate: boolean }> {
    const { subjectOf, keyOf, decode } = this.#binding;
    const subject = subjectOf(keyOf(decode(bytes)));
    return this.#publish(subject, bytes, id);
  }

  /** An id may contain any character, a header may not. The same id is never twice in a batch. */
  async #publish(subject: string, payload: Uint8Array, id: string, more: Record<string, string> = {}) {
    const key = escapeText(id);
    const message = { key, bytes: payload.length, subject, payload, headers: { 'Nats-Msg-Id': key, ...more } };
    const { seq, duplicate = false } = await this.#persistently(this.#guard, () => this.#publisher.publish(message));
    this.#anchors.note(payload.length);
    return { seq, duplicate };
  }

  async schedule(name: string, at: number, message: T): Promise<void> {
    const { timerSubjectOf, dueSubject, keyOf, encode } = this.#binding;
    await this.#setTimer(timerSubjectOf(keyOf(message), name), encode(message), schedule(at, dueSubject));
  }

  /** Replaces the timer by one that is never due and soon expires: unlike a purge, this needs only the right to publish. */
  async cancel(key: string, name: string): Promise<void> {
    const { timerSubjectOf, dueSubject } = this.#binding;
    const headers = { ...schedule(never, dueSubject), 'Nats-TTL': cancelledTtl };
    await this.#setTimer(timerSubjectOf(key, name), new Uint8Array(), headers);
  }

  async scheduled(of: Parameters<WorkQueue<T>['scheduled']>[0], limit: number): Promise<readonly Scheduled<T>[]> {
    const options = { inbox: this.#inbox, manager: await this.#manager, timeoutMs: this.#settings.requestTimeoutMs };
    return readScheduled({ ...options, binding: this.#binding }, of, limit);
  }

  async consume(options: ConsumeOptions<T>): Promise<Consumption> {
    const { connection, subjects, topology, deadLetters, clock } = this.#settings;
    const specs = topology.consumers.filter(({ stream }) => stream === this.#binding.stream);
    const [spec] = specs;
    if (spec?.pinMs === undefined)
      throw new NatterError('unsupported', `the topology has no consumers of ${this.#binding.stream}`);
    const manager = await this.#manager;
    // What is taken counts as well: a connector publishes by itself.
    const decode = (bytes: Uint8Array): T => {
      this.#anchors.note(bytes.length);
      return this.#binding.decode(bytes);
    };
    const shared = { connection, clock, deadLetters, binding: { ...this.#binding, decode }, manager };
    const partitions = await PartitionedConsumer.start(
      {
        ...shared,
        partitions: topology.partitions,
        ackWaitMs: spec.ackWaitMs,
        pinMs: spec.pinMs,
        guard: this.#guard,
        bucket: bucketNames(subjects.prefix).hosts,
        keptUnder: this.#keepsDone ? (partition) => specs[partition]?.filter ?? '' : null,
      },
      options,
    );
    const stopped = new AbortController();
    void this.#anchors.keepTrimming(clock, stopped.signal);
    // Only commands are ever scheduled.
    if (this.#binding.name === 'commands') void this.#timerAnchors.keepTrimming(clock, stopped.signal);
    const timers = forwardDueTimers({ ...shared, guard: this.#timerGuard, publish: (message) => this.publish(message) });
    return {
      owned: () => partitions.owned(),
      problems: () => [...partitions.problems(), ...timers.problems()],
      warnings: () => partitions.warnings(),
      close: async (drainMs) => {
        stopped.abort();
        await Promise.all([timers.close(), partitions.close(drainMs)]);
      },
    };
  }

  /** As counted by the consumers; a scheduled message counts once it is due. */
  async lag(): Promise<number> {
    const { consumers } = await this.#manager;
    const { name, stream, timerStream } = this.#binding;
    try {
      // Due messages are stored in the queue before they leave the timer stream: in this order none is missed on its way.
      const due = await consumers.info(timerStream, name);
      const stored = await this.#anchors.others();
      return due.num_pending + due.num_ack_pending + (this.#keepsDone ? await this.#notDone(stored) : stored);
    } catch (error) {
      throw toNatterError(error, `count the messages of ${stream}`);
    }
  }

  /** A partition without its consumer has 0: how much waits there is not counted apart. */
  async lagByPartition(): Promise<readonly number[]> {
    try {
      const counts = await this.#notDoneByConsumer();
      return Array.from(
        { length: this.#settings.topology.partitions },
        (_, number) => counts.get(partitionConsumer(number)) ?? 0,
      );
    } catch (error) {
      throw toNatterError(error, `count the messages of ${this.#binding.stream}`);
    }
  }

  /** True if the stream keeps acknowledged messages until they are removed (ADR 9). */
  get #keepsDone(): boolean {
    return this.#stream?.retention === 'limits';
  }

  get #stream(): StreamSpec | undefined {
    return this.#settings.topology.streams.find(({ name }) => name === this.#binding.stream);
  }

  /** Messages not acknowledged yet. If the consumer of a partition is missing, all stored messages count. */
  async #notDone(stored: number): Promise<number> {
    const counts = [...(await this.#notDoneByConsumer()).values()];
    return counts.length < this.#settings.topology.partitions ? stored : counts.reduce((sum, count) => sum + count, 0);
  }

  async #notDoneByConsumer(): Promise<Map<string, number>> {
    const { consumers } = await this.#manager;
    const counts = new Map<string, number>();
    for await (const { name, num_pending, num_ack_pending } of consumers.list(this.#binding.stream))
      counts.set(name, num_pending + num_ack_pending);
    return counts;
  }

  async #setTimer(subject: string, bytes: Uint8Array, headers: Record<string, string>): Promise<void> {
    const options = { timeoutMs: this.#settings.requestTimeoutMs, headers };
    await this.#persistently(this.#timerGuard, () => this.#inbox.ask(subject, bytes, options));
    this.#timerAnchors.note(bytes.length);
  }

  /** Publishes the same message until it is stored, for a bounded time. */
  async #persistently(guard: QueueGuard | undefined, publish: () => Promise<Stored>): Promise<Stored> {
    const { clock } = this.#settings;
    const deadline = clock.monotonic() + publishBudgetMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await (guard === undefined ? publish() : guard.store(publish));
      } catch (error) {
        const mayPass =
          error instanceof NatterError ? !guard?.problem()?.certain : ['unknown', 'unavailable'].includes(failureOf(error));
        if (!mayPass || clock.monotonic() >= deadline) throw toNatterError(error, `store a message of ${this.#binding.name}`);
        await clock.sleep(backoffMs(publishRetries, attempt));
      }
    }
  }
}
