import type { StreamConfig } from '@nats-io/jetstream';
import type { StreamSpec } from '../../wire/topology.ts';
import { streamConfig } from './stream-config.ts';

/**
 * One setting on the broker that differs from the topology. `resource` is like `NATTER_EVENTS` or `NATTER_COMMANDS/partition-3`.
 */
export interface Drift {
  readonly resource: string;
  readonly field: string;
  readonly wanted: string;
  readonly found: string;
}
/** A difference in words. */
export const driftText = ({ resource, field, wanted, found }: Drift): string =>
  `${resource}: ${field} is ${found}, not ${wanted}`;

/** The settings in which a stream on the broker differs from the topology. */
export const streamDrift = (spec: StreamSpec, found: Partial<StreamConfig>): readonly Drift[] =>
  differences(spec.name, streamConfig(spec), found);

/** The wanted settings that were found to be different. A description changes nothing, so another one is none of them. */
export const differences = (resource: string, wanted: object, found: object): Drift[] => {
  const foundFields = new Map(Object.entries(found));
  return Object.entries(wanted)
    .map(([field, value]) => ({ resource, field, wanted: canonical(value), found: canonical(foundFields.get(field)) }))
    .filter((drift) => drift.field !== 'description' && drift.wanted !== drift.found)
    .map((drift) => (isIrrevocable(drift) ? { ...drift, wanted: `${drift.wanted} ${madeAnew}` } : drift));
};

/** Settings that may be changed while the system runs, without losing or moving any message or position. */
const updatable = new Set(
  'num_replicas max_msg_size duplicate_window allow_atomic allow_direct deny_delete ack_wait priority_timeout'.split(' '),
);

/** Limits on stored messages. Removing one loses nothing. */
const keptLimits = ['max_msgs', 'max_bytes', 'max_msgs_per_subject'];
/** True if the setting can be changed on a running system. */
export const isUpdatable = ({ field, wanted }: Drift): boolean =>
  updatable.has(field) || (keptLimits.includes(field) && wanted === 'unset');

/**
 * The bounds that an older version has not set. Adding them may drop the oldest messages, so only streams that are there to drop
 * them get them: those with `bounds`. Bounds that somebody has changed are left alone.
 */
const isMissingBound = ({ field, found }: Drift): boolean =>
  field === 'discard' ? found === '"new"' : ['max_age', 'max_bytes', 'max_msgs_per_subject'].includes(field) && found === 'unset';

/** Of a stream that an older version made: it has no place for anchors yet, or keeps too few messages (ADR 25). */
const isUnanchored = ({ field, found }: Drift, { subjects, anchor, newestPerSubject }: StreamSpec): boolean =>
  (field === 'max_msgs_per_subject' && newestPerSubject !== undefined) ||
  (field === 'subjects' && anchor !== undefined && found === canonical(subjects.filter((subject) => subject !== anchor)));

/** Settings that a stream cannot change: the first two cannot be turned off, the retention not changed at all. */
const isIrrevocable = ({ field, wanted }: Drift): boolean =>
  field === 'retention' || (['allow_msg_schedules', 'allow_msg_ttl'].includes(field) && wanted === 'unset');

const madeAnew = '(the stream has to be recreated, see "Older streams" in docs/operate/broker.md)';

/** True if `provision` may change this setting of a stream that exists. */
export const isSafe = (drift: Drift, spec: StreamSpec): boolean =>
  isUpdatable(drift) || isUnanchored(drift, spec) || (spec.bounds !== undefined && isMissingBound(drift));

/** The broker leaves out defaults: `false`, 0, -1 (no limit) and absence are equal. */
const canonical = (value: unknown): string =>
  value === undefined || value === false || value === 0 || value === -1 || value === 'default' ? 'unset' : JSON.stringify(value);
