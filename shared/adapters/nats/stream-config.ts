import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { descriptionOf } from '../../wire/descriptions.ts';
import { type ConsumerSpec, pinGroup, type StreamSpec } from '../../wire/topology.ts';

/** Translates streams and consumers of the topology to the broker's configuration. */

/** In the metadata of a stream whose restore from a backup is not finished. */
export const restoringMark = 'natter_restoring';

/** The difference that keeps everything from starting on such a stream. */
export const unfinishedRestore = ({ name, metadata }: Pick<StreamConfig, 'name' | 'metadata'>) =>
  metadata?.[restoringMark] === undefined
    ? []
    : [{ resource: name, field: 'restore', wanted: 'finished', found: 'not finished: run "natter restore" again' }];

/** In the metadata of a stream that was restored from a backup: when, ms. */
export const restoredMark = 'natter_restored';

/**
 * Which life of a stream this is: when it was made, ms, or when it was restored. Of a restored stream the servers of a cluster say different
 * times, and each one another after its restart.
 */
export const incarnationOf = (info: { readonly created: string; readonly config: Pick<StreamConfig, 'metadata'> }): number => {
  const { created, config } = info;
  const restoredAt = config.metadata?.[restoredMark];
  return restoredAt === undefined ? Date.parse(created) : Number(restoredAt);
};

/** The configuration of a new stream. */
export type NewStream = Partial<StreamConfig> & { name: string };

export const streamConfig = (spec: StreamSpec): NewStream => ({
  name: spec.name,
  description: descriptionOf(spec.name) ?? '',
  subjects: [...spec.subjects],
  retention: spec.retention,
  storage: 'file',
  // The broker allows schedules only with "old". Without a limit on messages nothing is ever discarded, and a full disk refuses
  // new messages.
  discard: spec.schedules || spec.bounds ? 'old' : 'new',
  num_replicas: spec.replicas,
  max_msg_size: spec.maxMessageBytes,
  duplicate_window: nanos(spec.duplicateWindowMs),
  max_age: spec.bounds ? nanos(spec.bounds.maxAgeMs) : 0,
  // A limit would discard the oldest message of a subject, or with "old" of the whole stream: history or timers would be lost.
  ...(spec.schedules && { max_msgs: -1, max_bytes: -1 }),
  max_msgs_per_subject: -1,
  ...(spec.bounds && { max_bytes: spec.bounds.maxBytes, max_msgs_per_subject: spec.bounds.maxMessagesPerSubject }),
  ...{ deny_purge: false, no_ack: false, sealed: false, allow_direct: spec.directReads },
  allow_msg_ttl: spec.messageTtl,
  allow_msg_schedules: spec.schedules,
  allow_atomic: spec.batches,
  // Only an unreplicated stream may lose its last writes: a replicated one refuses the mode (10052) and is fast enough without.
  persist_mode: spec.cache && spec.replicas === 1 ? 'async' : 'default',
  ...(spec.transform ? { subject_transform: { src: spec.transform.from, dest: spec.transform.to } } : {}),
  // Erasure overwrites single messages (ADR 8); no running service has that right.
  ...(spec.newestPerSubject === undefined ? { deny_delete: false } : bucketConfig(spec, spec.newestPerSubject)),
  // Scheduled messages replace each other by roll-up, which the broker turns on by itself.
  ...(spec.schedules ? {} : { allow_rollup_hdrs: spec.newestPerSubject !== undefined }),
});

/**
 * The configuration that key-value clients expect. A removed or expired key leaves a marker for a while, so that watchers notice.
 */
const bucketConfig = (spec: StreamSpec, newest: number): Partial<StreamConfig> => ({
  max_msgs_per_subject: newest,
  deny_delete: spec.erasable !== true,
  ...(spec.messageTtl ? { subject_delete_marker_ttl: nanos(60_000) } : {}),
});

type NewConsumer = Partial<ConsumerConfig>;

export const consumerConfig = (spec: ConsumerSpec): NewConsumer => ({
  name: spec.name,
  durable_name: spec.name,
  filter_subject: spec.filter,
  ack_policy: 'explicit',
  max_ack_pending: spec.maxAckPending ?? 1,
  ack_wait: nanos(spec.ackWaitMs),
  ...(spec.pinMs === undefined
    ? {}
    : { priority_groups: [pinGroup], priority_policy: 'pinned_client', priority_timeout: nanos(spec.pinMs) }),
  mem_storage: spec.inMemory,
});
