import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { type ConsumerSpec, pinGroup, type StreamSpec } from '../../wire/topology.ts';

/** What the broker is asked for, for each stream and consumer of the topology. */

/** A stream as it is to be. */
export type NewStream = Partial<StreamConfig> & { name: string };

export const streamConfig = (spec: StreamSpec): NewStream => ({
  name: spec.name,
  subjects: [...spec.subjects],
  retention: spec.retention,
  storage: 'file',
  // The broker allows schedules only with "old"; without a limit on messages nothing is ever discarded, and a full disk refuses the newest.
  discard: spec.schedules || spec.bounds ? 'old' : 'new',
  num_replicas: spec.replicas,
  max_msg_size: spec.maxMessageBytes,
  duplicate_window: nanos(spec.duplicateWindowMs),
  max_age: spec.bounds ? nanos(spec.bounds.maxAgeMs) : 0,
  // A limit discards the oldest of a subject, and of a stream with "old" the oldest of all: the history or a timer would be gone.
  ...(spec.schedules && { max_msgs: -1, max_bytes: -1 }),
  max_msgs_per_subject: -1,
  ...(spec.bounds && { max_bytes: spec.bounds.maxBytes, max_msgs_per_subject: spec.bounds.maxMessagesPerSubject }),
  ...{ deny_purge: false, allow_direct: spec.directReads },
  allow_msg_ttl: spec.messageTtl,
  allow_msg_schedules: spec.schedules,
  // Only one copy may forget its last writes: a replicated stream refuses the mode (10052), and does not need it to be fast.
  persist_mode: spec.cache && spec.replicas === 1 ? 'async' : 'default',
  ...(spec.transform ? { subject_transform: { src: spec.transform.from, dest: spec.transform.to } } : {}),
  // Erasure overwrites single messages (ADR 8); no running service has the right to.
  ...(spec.lastPerSubject ? bucketConfig(spec) : { deny_delete: false }),
  // Scheduled messages replace each other, which the broker does by roll-up, and turns on by itself.
  ...(spec.schedules ? {} : { allow_rollup_hdrs: spec.lastPerSubject }),
});

/** What the key-value client expects of a bucket's stream. A removed or expired key leaves a marker for a while, so that watchers hear of it. */
const bucketConfig = (spec: StreamSpec): Partial<StreamConfig> => ({
  max_msgs_per_subject: 1,
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
