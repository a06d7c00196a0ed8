import { limits } from '../kit/limits.ts';
import type { BucketName, QueueName, Subjects } from './subjects.ts';

/**
 * Streams, consumers and buckets as data. `provision` brings the broker in line with it and reports differences. Times are in
 * milliseconds here; the adapter converts them.
 */
export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly retention: 'limits' | 'workqueue';
  /** A recreated stream continues with higher sequences, so that a reference to an old message never means a new one. */
  readonly sequencesRise: boolean;
  readonly replicas: number;
  /** One of the subjects: where the anchors are that keep a replicated stream from being emptied, or a block of it (ADR 25). */
  readonly anchor?: string;
  readonly maxMessageBytes: number;
  readonly duplicateWindowMs: number;
  readonly transform?: { readonly from: string; readonly to: string };
  /** Scheduled messages. They slow the whole stream down by about a fifth, so only the timer stream has them (ADR 7). */
  readonly schedules: boolean;
  readonly messageTtl: boolean;
  /** Messages may be stored together, all of them or none (ADR 23). */
  readonly batches: boolean;
  readonly directReads: boolean;
  /** Only so many of the newest messages of each subject stay; 1: a key-value bucket. Absent: all. */
  readonly newestPerSubject?: number;
  /** Of a bucket: single messages may be overwritten by whoever has the right, so that data can be erased (ADR 8). */
  readonly erasable?: true;
  /** A cache may lose its last writes: it does not wait for the disk. */
  readonly cache: boolean;
  /** Beyond these bounds the oldest messages are dropped. Absent: everything stays. */
  readonly bounds?: { readonly maxAgeMs: number; readonly maxBytes: number; readonly maxMessagesPerSubject: number };
}
export interface ConsumerSpec {
  readonly stream: string;
  readonly name: string;
  readonly filter: string;
  readonly ackWaitMs: number;
  /** How long a silent member keeps its pin. Absent: members are not pinned, and each message goes to whoever asks. */
  readonly pinMs?: number;
  /** The broker keeps the consumer's position in memory: the queue itself shows what is not done (ADR 5). */
  readonly inMemory: boolean;
  /** Maximum unacknowledged messages. Default 1; more gives up the order within a key, which only a test may want. */
  readonly maxAckPending?: number;
}
export interface Topology {
  readonly partitions: number;
  readonly streams: readonly StreamSpec[];
  readonly consumers: readonly ConsumerSpec[];
}

export const streamNames = (prefix: string) => {
  const name = (suffix: string) => `${prefix.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase()}_${suffix}`;
  return {
    inbound: name('INBOUND'),
    commands: name('COMMANDS'),
    checkpoints: name('CHECKPOINTS'),
    timers: name('TIMERS'),
    events: name('EVENTS'),
    deliveries: name('DELIVERIES'),
    dead: name('DEAD'),
    audit: name('AUDIT'),
    probe: name('PROBE'),
  };
};
export const bucketNames = (prefix: string): Record<BucketName, string> => {
  const name = (suffix: string) => `${prefix.replaceAll(/[^A-Za-z0-9]/g, '_')}_${suffix}`;
  return {
    snapshots: name('snapshots'),
    index: name('index'),
    hosts: name('hosts'),
    tokens: name('tokens'),
    pairings: name('pairings'),
    memory: name('memory'),
    witness: name('witness'),
  };
};

/** The object store of attachments, and the stream behind it. */
export const objectStoreNames = (prefix: string) => {
  const bucket = `${prefix.replaceAll(/[^A-Za-z0-9]/g, '_')}_attachments`;
  return { bucket, stream: `OBJ_${bucket}`, subjects: [`$O.${bucket}.C.>`, `$O.${bucket}.M.*`] };
};

/** The name of the durable consumer of one partition. */
export const partitionConsumer = (partition: number): string => `partition-${partition}`;
/** The priority group of the pinned consumers. */
export const pinGroup = 'natter';

const stream = (name: string, subjects: readonly string[], replicas: number, change: Partial<StreamSpec> = {}): StreamSpec => ({
  name,
  subjects,
  retention: 'limits',
  sequencesRise: false,
  replicas,
  maxMessageBytes: limits.commitBytes + 16 * 1024,
  duplicateWindowMs: 120_000,
  schedules: false,
  messageTtl: false,
  batches: false,
  directReads: true,
  cache: false,
  ...change,
});

export interface TopologyOptions {
  readonly replicas: number;
  readonly partitions: number;
  /**
   * Keeps the state of consumers in memory only: saves half a dozen disk syncs per turn, but is lost when a single server
   * restarts, after which `provision` must run again (ADR 5). Default: only with several replicas, which keep it.
   */
  readonly memoryConsumers?: boolean;
}

/**
 * A probe takes 4 kB, so they reach back 16 MB, twice as far as a replica writes from one snapshot to the next: what a snapshot names
 * as the last is not removed before a later one (ADR 25).
 */
const replicatedProbes = 4_096;

/** Due timers delivered at a time: what a queue takes in some tens of milliseconds. */
const dueOutAtOnce = 256;

/** Bounds of the audit trail. Per kind, so that a flood of failed authentications displaces only its own kind. */
export const auditBounds = { maxAgeMs: 400 * 86_400_000, maxBytes: 256 * 1024 ** 2, maxMessagesPerSubject: 50_000 } as const;

/**
 * Bounds of the dead letters. Per service and source, so that a flood of garbage displaces only letters of its own channel: 500 of
 * the largest messages, 125 MB, leave the others room. Three months are time enough to look.
 */
export const deadBounds = { maxAgeMs: 90 * 86_400_000, maxBytes: 256 * 1024 ** 2, maxMessagesPerSubject: 500 } as const;

/** Waits for the disk: a message that was acknowledged refers to what is in it. A whole attachment is one batch (ADR 27). */
const objectStream = (prefix: string, replicas: number): StreamSpec => {
  const { stream: name, subjects } = objectStoreNames(prefix);
  return stream(name, subjects, replicas, { batches: true });
};

/** The whole topology under a prefix. */
export const topologyOf = (
  { prefix, due, probe, deadLetters, anchor, bucketAnchors }: Subjects,
  options: TopologyOptions,
): Topology => {
  const { replicas, partitions, memoryConsumers = replicas > 1 } = options;
  const names = streamNames(prefix);
  const buckets = bucketNames(prefix);
  const bucket = (name: BucketName, change: Partial<StreamSpec>): StreamSpec => {
    const keys = `$KV.${buckets[name]}.>`;
    const anchored = replicas > 1 && { subjects: [keys, bucketAnchors(name)], anchor: bucketAnchors(name) };
    return stream(`KV_${buckets[name]}`, [keys], replicas, { newestPerSubject: 1, ...anchored, ...change });
  };
  /** A stream whose messages are removed when they are done. On one server each of its writes is synced by itself. */
  const work = (queue: QueueName | 'timers', subjects: readonly string[], change: Partial<StreamSpec>): StreamSpec =>
    replicas > 1
      ? stream(names[queue], [...subjects, anchor(queue)], replicas, { ...change, anchor: anchor(queue) })
      : stream(names[queue], subjects, replicas, change);
  const all = [...Array(partitions).keys()];
  const consumer = (streamName: string, filter: string, partition: number): ConsumerSpec => ({
    stream: streamName,
    name: partitionConsumer(partition),
    filter,
    ackWaitMs: 3_000,
    pinMs: 2_000,
    inMemory: memoryConsumers,
  });
  const timers = (queue: QueueName): ConsumerSpec => ({
    stream: names.timers,
    name: queue,
    filter: due(queue),
    ackWaitMs: 5_000,
    inMemory: memoryConsumers,
    maxAckPending: dueOutAtOnce,
  });
  return {
    partitions,
    streams: [
      work('inbound', [`${prefix}.inbound.*.*`], {
        ...{ retention: 'workqueue', batches: true },
        transform: {
          from: `${prefix}.inbound.*.*`,
          to: `${prefix}.inbound.{{partition(${partitions},1,2)}}.{{wildcard(1)}}.{{wildcard(2)}}`,
        },
      }),
      // Completed commands stay until the owner of their consumer removes them in bulk: saves a sync per command (ADR 9).
      work('commands', [`${prefix}.command.*`], {
        ...{ sequencesRise: true, batches: true },
        transform: { from: `${prefix}.command.*`, to: `${prefix}.command.{{partition(${partitions},1)}}.{{wildcard(1)}}` },
      }),
      work('checkpoints', [`${prefix}.checkpoint.*`], {
        retention: 'workqueue',
        transform: { from: `${prefix}.checkpoint.*`, to: `${prefix}.checkpoint.{{partition(${partitions},1)}}.{{wildcard(1)}}` },
      }),
      work('timers', [`${prefix}.timer.*.*.*`, `${prefix}.due.*`], {
        ...{ retention: 'workqueue', schedules: true, messageTtl: true },
      }),
      stream(names.events, [`${prefix}.event.>`], replicas, { batches: true }),
      stream(names.deliveries, [`${prefix}.delivery.>`], replicas),
      stream(names.dead, [deadLetters], replicas, { bounds: deadBounds }),
      stream(names.audit, [`${prefix}.audit.*`], replicas, { maxMessageBytes: 16 * 1024, bounds: auditBounds }),
      // Waits for the disk as the log does: each process proves with it that the broker can store. The newest message is enough.
      stream(names.probe, [probe], replicas, { newestPerSubject: replicas > 1 ? replicatedProbes : 1 }),
      bucket('snapshots', { cache: true }),
      bucket('index', { cache: true }),
      bucket('hosts', { messageTtl: true, cache: true }),
      // Waits for the disk: a power cut must not undo a revocation.
      bucket('tokens', { messageTtl: true }),
      // Waits for the disk: neither an approval nor its end may be undone.
      bucket('pairings', {}),
      // Waits for the disk: the position must never cover changes that are not stored.
      bucket('memory', { erasable: true }),
      // Waits for the disk, and is no cache: it says what the log has reached (I13).
      bucket('witness', {}),
      objectStream(prefix, replicas),
    ],
    consumers: [
      ...all.map((partition) => consumer(names.inbound, `${prefix}.inbound.${partition}.*.*`, partition)),
      ...all.map((partition) => consumer(names.commands, `${prefix}.command.${partition}.*`, partition)),
      ...all.map((partition) => consumer(names.checkpoints, `${prefix}.checkpoint.${partition}.*`, partition)),
      ...(['inbound', 'commands', 'checkpoints'] as const).map(timers),
    ],
  };
};
