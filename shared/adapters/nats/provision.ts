import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConsumerInfo,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { NatterError } from '../../kit/errors.ts';
import type { StreamSpec, Topology } from '../../wire/topology.ts';
import { failureOf, toNatterError } from './broker-errors.ts';
import { consumerConfig, type NewStream, streamConfig, unfinishedRestore } from './stream-config.ts';

/**
 * One setting on the broker that differs from the topology. `resource` is like `NATTER_EVENTS` or `NATTER_COMMANDS/partition-3`.
 */
interface Drift {
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

export interface ProvisionReport {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  /** The remaining differences. The services work only on a broker without drift. */
  readonly drift: readonly Drift[];
}

/** Settings that may be changed while the system runs, without losing or moving any message or position. */
const updatable = new Set(
  'num_replicas max_msg_size duplicate_window allow_atomic allow_direct deny_delete ack_wait priority_timeout'.split(' '),
);

/** Limits on stored messages. Removing one loses nothing. */
const keptLimits = ['max_msgs', 'max_bytes', 'max_msgs_per_subject'];
const isUpdatable = ({ field, wanted }: Drift): boolean =>
  updatable.has(field) || (keptLimits.includes(field) && wanted === 'unset');

/**
 * The bounds that an older version has not set. Adding them may drop the oldest messages, so only streams that are there to drop
 * them get them: those with `bounds`. Bounds that somebody has changed are left alone.
 */
const isMissingBound = ({ field, found }: Drift): boolean =>
  field === 'discard' ? found === '"new"' : ['max_age', 'max_bytes', 'max_msgs_per_subject'].includes(field) && found === 'unset';

/** More messages of a subject may stay than an older version kept. */
const isMoreKept = ({ field, wanted, found }: Drift): boolean =>
  field === 'max_msgs_per_subject' && Number(wanted) > Number(found);

/** Of a stream that an older version made: it has no place for anchors yet (ADR 25). */
const isMissingAnchor = ({ field, found }: Drift, { subjects, anchor }: StreamSpec): boolean =>
  field === 'subjects' && anchor !== undefined && found === canonical(subjects.filter((subject) => subject !== anchor));

/** Settings that a stream cannot change: the first two cannot be turned off, the retention not changed at all. */
const isIrrevocable = ({ field, wanted }: Drift): boolean =>
  field === 'retention' || (['allow_msg_schedules', 'allow_msg_ttl'].includes(field) && wanted === 'unset');

const madeAnew = '(the stream has to be recreated, see "Older streams" in docs/operate/broker.md)';

/** A cluster elects leaders for new streams and consumers; for 128 of them this took 2 s. */
const patienceMs = 30_000;
/** The broker's code for an existing stream with another configuration, even if only its first sequence differs. */
const nameInUse = 10058;
/** Concurrent requests: more would only lengthen the broker's queue. */
const requestsAtOnce = 16;

/**
 * Brings the broker in line with the topology: creates what is missing, reports differences, destroys nothing. With `update` it
 * also changes what can be changed safely. An unfinished restore is a difference too. Idempotent, and safe in several
 * processes at once. Throws `unavailable`, or `unsupported` when the broker does not accept a setting we need.
 */
export const provision = async (
  connection: NatsConnection,
  topology: Topology,
  options: { update?: boolean } = {},
): Promise<ProvisionReport> => {
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 5_000 });
  const work: Work = { manager, update: options.update ?? false, created: [], updated: [], drift: [] };
  for (const spec of topology.streams) await ensureStream(work, spec);
  for (const spec of topology.streams) await ensureConsumers(work, topology, spec);
  return { created: work.created, updated: work.updated, drift: work.drift };
};

/** Names of the topology's streams that do not exist on the broker. */
export const missingStreams = async (manager: JetStreamManager, topology: Topology): Promise<readonly string[]> => {
  const found = new Set<string>();
  for await (const name of manager.streams.names()) found.add(name);
  return topology.streams.map(({ name }) => name).filter((name) => !found.has(name));
};

/** Of a stream that exists: names of its consumers in the topology that do not. */
export const missingConsumers = async (
  manager: JetStreamManager,
  { consumers }: Topology,
  stream: string,
): Promise<readonly string[]> => {
  const found = await consumersByName(manager, stream);
  return consumers.filter((spec) => spec.stream === stream && !found.has(spec.name)).map(({ name }) => name);
};

/**
 * Makes again, while the system runs, what can be made again without a decision: consumers that somebody deleted. Their messages are
 * still in the streams. A missing stream is left alone. Resolves with what was created. Throws as `provision`.
 */
export const heal = async (connection: NatsConnection, topology: Topology): Promise<readonly string[]> => {
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 5_000 });
  const work: Work = { manager, update: false, created: [], updated: [], drift: [] };
  const missing = await missingStreams(manager, topology);
  for (const spec of topology.streams.filter(({ name }) => !missing.includes(name))) await ensureConsumers(work, topology, spec);
  return work.created;
};

interface Work {
  readonly manager: JetStreamManager;
  readonly update: boolean;
  readonly created: string[];
  readonly updated: string[];
  readonly drift: Drift[];
}

const ensureStream = async (work: Work, spec: StreamSpec): Promise<void> => {
  const { streams } = work.manager;
  const wanted = streamConfig(spec);
  const found = await persistently(`read the stream ${spec.name}`, () => orMissing(streams.info(spec.name)));
  const created = { ...wanted, ...(spec.sequencesRise && { first_seq: Date.now() * 1_000 }) };
  const info = found ?? (await persistently(`create the stream ${spec.name}`, () => orExisting(streams, created)));
  if (found === null) work.created.push(spec.name);
  work.drift.push(...unfinishedRestore(info.config));
  const isSafe = (drift: Drift): boolean =>
    isUpdatable(drift) ||
    isMoreKept(drift) ||
    isMissingAnchor(drift, spec) ||
    (spec.bounds !== undefined && isMissingBound(drift));
  await settle(work, spec.name, wanted, info.config, (config) => streams.update(spec.name, config), isSafe);
};

const ensureConsumers = async (work: Work, topology: Topology, { name: stream }: StreamSpec): Promise<void> => {
  const specs = topology.consumers.filter((spec) => spec.stream === stream);
  if (specs.length === 0) return;
  const { consumers } = work.manager;
  const found = await persistently(`list the consumers of ${stream}`, () => consumersByName(work.manager, stream));
  await inParallel(specs, async (spec) => {
    const resource = `${stream}/${spec.name}`;
    const wanted = consumerConfig(spec);
    const existing = found.get(spec.name);
    if (existing !== undefined)
      return settle(work, resource, wanted, existing.config, (config) => consumers.update(stream, spec.name, config));
    await persistently(`create the consumer ${resource}`, () => consumers.add(stream, wanted));
    work.created.push(resource);
  });
  const expected = new Set(specs.map(({ name }) => name));
  for (const name of found.keys())
    if (!expected.has(name))
      work.drift.push({ resource: `${stream}/${name}`, field: 'name', wanted: 'no such consumer', found: name });
  await persistently(`elect the leaders of the consumers of ${stream}`, async () => {
    const now = await consumersByName(work.manager, stream);
    const leaderless = specs.filter(({ name }) => !hasLeader(now.get(name)));
    if (leaderless.length > 0)
      throw new NatterError('unavailable', `${leaderless.length} consumers of ${stream} have no leader yet`);
  });
};

/** Of a stream or a consumer. A standalone server elects no leaders and reports no cluster. */
export const hasLeader = (info: Pick<ConsumerInfo | StreamInfo, 'cluster'> | undefined): boolean =>
  info !== undefined && (info.cluster === undefined || Boolean(info.cluster.leader));

const consumersByName = async (manager: JetStreamManager, stream: string): Promise<Map<string, ConsumerInfo>> => {
  const byName = new Map<string, ConsumerInfo>();
  for await (const info of manager.consumers.list(stream)) byName.set(info.name, info);
  return byName;
};

/** Updates what may be updated, if requested, and notes every remaining difference. */
const settle = async <C extends object>(
  work: Work,
  resource: string,
  wanted: C,
  found: Partial<C>,
  update: (config: C) => Promise<unknown>,
  isSafe: (drift: Drift) => boolean = isUpdatable,
): Promise<void> => {
  const drift = differences(resource, wanted, found);
  if (drift.length === 0) return;
  if (!work.update || !drift.every(isSafe)) {
    work.drift.push(...drift);
    return;
  }
  await persistently(`update ${resource}`, () => update({ ...found, ...wanted }));
  work.updated.push(resource);
};

const differences = (resource: string, wanted: object, found: object): Drift[] => {
  const foundFields = new Map(Object.entries(found));
  return Object.entries(wanted)
    .map(([field, value]) => ({ resource, field, wanted: canonical(value), found: canonical(foundFields.get(field)) }))
    .filter((drift) => drift.wanted !== drift.found)
    .map((drift) => (isIrrevocable(drift) ? { ...drift, wanted: `${drift.wanted} ${madeAnew}` } : drift));
};

/** The broker leaves out defaults: `false`, 0, -1 (no limit) and absence are equal. */
const canonical = (value: unknown): string =>
  value === undefined || value === false || value === 0 || value === -1 || value === 'default' ? 'unset' : JSON.stringify(value);

/** Handles another process having created the stream first. */
const orExisting = async (streams: JetStreamManager['streams'], config: NewStream): Promise<StreamInfo> => {
  try {
    return await streams.add(config);
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === nameInUse)) throw error;
    const made = await orMissing(streams.info(config.name));
    if (made !== null) return made;
    throw new NatterError('unavailable', `another process is creating the stream ${config.name}`);
  }
};

const orMissing = async <T>(asked: Promise<T>): Promise<T | null> => {
  try {
    return await asked;
  } catch (error) {
    if (failureOf(error) === 'missing') return null;
    throw error;
  }
};

/** Retries while the broker is unavailable: every request here is idempotent. Throws `NatterError`. */
const persistently = async <T>(doing: string, attempt: () => Promise<T>): Promise<T> => {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const failure = error instanceof NatterError ? error.code : failureOf(error);
      if ((failure !== 'unavailable' && failure !== 'unknown') || performance.now() > deadline) throw toNatterError(error, doing);
      await delay(100);
    }
  }
};

const inParallel = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all([...Array(requestsAtOnce)].map(worker));
};
