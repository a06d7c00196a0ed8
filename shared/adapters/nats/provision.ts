import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConsumerInfo,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { NatterError } from '../../kit/errors.ts';
import type { StreamSpec, Topology } from '../../wire/topology.ts';
import { failureOf, toNatterError } from './client/broker-errors.ts';
import { type Drift, differences, isSafe, isUpdatable } from './drift.ts';
import { consumerConfig, type NewStream, streamConfig, unfinishedRestore } from './stream-config.ts';

export interface ProvisionReport {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  /** The remaining differences. The services work only on a broker without drift. */
  readonly drift: readonly Drift[];
}

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
  const begun = (): Work => ({ manager, update: options.update ?? false, created: [], updated: [], drift: [] });
  // In a cluster each stream elects a leader: together they take as long as one.
  const streams = topology.streams.map((spec) => ({ spec, work: begun() }));
  await inParallel(streams, ({ spec, work }) => ensureStream(work, spec));
  const consumers = begun();
  const again = (spec: StreamSpec) => ensureStream({ ...begun(), created: consumers.created }, spec);
  for (const spec of topology.streams) await ensureConsumers(consumers, topology, spec, () => again(spec));
  // A cluster takes back a stream that was just made if a server tells it late that it could not make it in an earlier attempt.
  await persistently('make every stream', async () => {
    const missing = await missingStreams(manager, topology);
    for (const spec of topology.streams.filter(({ name }) => missing.includes(name))) {
      await again(spec);
      await ensureConsumers(consumers, topology, spec, () => again(spec));
    }
    if (missing.length > 0) throw new NatterError('unavailable', `these streams had to be made again: ${missing.join(', ')}`);
  });
  const works = [...streams.map(({ work }) => work), consumers];
  return {
    created: [...new Set(works.flatMap(({ created }) => created))],
    updated: works.flatMap(({ updated }) => updated),
    drift: works.flatMap(({ drift }) => drift),
  };
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
  await settle(
    work,
    spec.name,
    wanted,
    info.config,
    (config) => streams.update(spec.name, config),
    (drift) => isSafe(drift, spec),
  );
};

/** `again` makes a stream that went missing meanwhile: it was deleted, or what a cluster said of it was out of date. */
const ensureConsumers = async (
  work: Work,
  topology: Topology,
  { name: stream }: StreamSpec,
  again: () => Promise<void> = async () => {},
): Promise<void> => {
  const specs = topology.consumers.filter((spec) => spec.stream === stream);
  if (specs.length === 0) return;
  const { consumers } = work.manager;
  const orAgain = async <T>(asked: Promise<T>): Promise<T> => {
    const answer = await orMissing(asked);
    if (answer !== null) return answer;
    await again();
    throw new NatterError('unavailable', `the stream ${stream} is not known to every server yet`);
  };
  const found = await persistently(`list the consumers of ${stream}`, () => orAgain(consumersByName(work.manager, stream)));
  await inParallel(specs, async (spec) => {
    const resource = `${stream}/${spec.name}`;
    const wanted = consumerConfig(spec);
    const existing = found.get(spec.name);
    if (existing !== undefined)
      return settle(work, resource, wanted, existing.config, (config) => consumers.update(stream, spec.name, config));
    // A server of a cluster may hear of a new stream a moment after it was made.
    await persistently(`create the consumer ${resource}`, () => orAgain(consumers.add(stream, wanted)));
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
const settle = async <C extends { description?: string }>(
  work: Work,
  resource: string,
  wanted: C,
  found: Partial<C>,
  update: (config: C) => Promise<unknown>,
  mayChange: (drift: Drift) => boolean = isUpdatable,
): Promise<void> => {
  const drift = differences(resource, wanted, found);
  if (drift.length === 0 && wanted.description === found.description) return;
  if (drift.length > 0 && (!work.update || !drift.every(mayChange))) {
    work.drift.push(...drift);
    return;
  }
  await persistently(`update ${resource}`, () => update({ ...found, ...wanted }));
  work.updated.push(resource);
};

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
