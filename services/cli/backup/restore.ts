import { type JetStreamManager, jetstreamManager, type StreamConfig, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { createPresence } from '../../../shared/adapters/kv/presence.ts';
import { failureOf, toNatterError } from '../../../shared/adapters/nats/client/broker-errors.ts';
import { driftText } from '../../../shared/adapters/nats/drift.ts';
import { openKvStore } from '../../../shared/adapters/nats/kv-store.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { restoredMark, restoringMark, streamConfig } from '../../../shared/adapters/nats/stream-config.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { bucketNames, type Topology } from '../../../shared/wire/topology.ts';
import { archivesOf } from './archives.ts';
import type { CheckedBackup } from './check-backup.ts';
import { compareWithBackup } from './compare.ts';
import { backedUp, type LogEntry, type Manifest } from './manifest.ts';
import { makeFromSnapshot } from './snapshot.ts';

export interface RestoreOptions {
  readonly connection: NatsConnection;
  readonly config: Config;
  readonly topology: Topology;
  readonly folder: string;
  readonly backup: CheckedBackup;
  /** Called before each stream. */
  progress(stream: string): void;
}

/**
 * Makes the streams of a backup in a broker that has none, and checks them. Caches, cursors and witnesses are not restored: those of another
 * life of the log are removed, and the services make them anew. Until `finishRestore` the streams carry a mark, with which nothing starts, and
 * which lets an interrupted restore be run again. Throws `NatterError`: `invalid` if the broker or the settings do not fit, `unavailable`.
 */
export const restoreStreams = async (options: RestoreOptions): Promise<LogEntry> => {
  const { connection, config, topology, folder, backup, progress } = options;
  const { manifest } = backup;
  refuseOther(config, manifest);
  const manager = await managerOf(connection, config);
  await makeRoom(options, manager);
  const archiveOf = archivesOf(folder, backup);
  const metadata = { [restoringMark]: manifest.id, [restoredMark]: String(Date.now()) };
  for (const spec of topology.streams) {
    const entry = manifest.streams.find(({ name }) => name === spec.name);
    if (entry === undefined) continue;
    progress(spec.name);
    const { state, pieces } = await archiveOf(entry);
    const settings = { ...streamConfig(spec), metadata };
    await makeFromSnapshot(connection, { config: settings, state }, pieces());
  }
  const { drift } = await provision(connection, topology);
  const [first] = drift.filter(({ field }) => field !== 'restore');
  if (first !== undefined) throw new NatterError('unsupported', driftText(first));
  const { log, problems } = await compareWithBackup(connection, config, folder, manifest);
  if (problems.length > 0)
    throw new NatterError('unavailable', ['the broker does not have what is in the backup:', ...problems].join('\n  '));
  return log;
};

/** Takes the mark off: from now on the services start. */
export const finishRestore = async ({
  connection,
  config,
  topology,
}: Pick<RestoreOptions, 'connection' | 'config' | 'topology'>): Promise<void> => {
  const manager = await managerOf(connection, config);
  for (const { name } of topology.streams) {
    const { config: found } = await manager.streams.info(name);
    if (found.metadata?.[restoringMark] === undefined) continue;
    const { [restoringMark]: _, ...metadata } = found.metadata;
    await manager.streams.update(name, { ...found, metadata });
  }
};

const managerOf = (connection: NatsConnection, { nats }: Config): Promise<JetStreamManager> =>
  jetstreamManager(connection, { checkAPI: false, timeout: nats.requestTimeoutMs });

/** Subjects contain the prefix, stored ones the partition. */
const refuseOther = ({ prefix, nats }: Config, manifest: Manifest): void => {
  if (manifest.prefix !== prefix)
    throw new NatterError('invalid', `the backup is of prefix "${manifest.prefix}", the configuration says "${prefix}"`, {
      field: 'prefix',
    });
  if (manifest.partitions !== nats.partitions)
    throw new NatterError('invalid', `the backup has ${manifest.partitions} partitions; set nats.partitions to that`, {
      field: 'nats.partitions',
    });
};

const streamOrNull = (manager: JetStreamManager, name: string): Promise<StreamInfo | null> =>
  manager.streams.info(name).catch((error: unknown) => {
    if (failureOf(error) === 'missing') return null;
    throw toNatterError(error, `describe ${name}`);
  });

const isMarked = ({ metadata }: StreamConfig): boolean => metadata?.[restoringMark] !== undefined;

/**
 * Whether a stream is what an interrupted restore left. Where the mark was being taken off, the streams that have none any more are known by
 * when they were restored: nothing has started since then.
 */
const unfinishedIn = (existing: readonly StreamInfo[]) => {
  const restoredAt = ({ metadata }: StreamConfig) => metadata?.[restoredMark];
  const times = new Set(existing.filter(({ config }) => isMarked(config)).map(({ config }) => restoredAt(config)));
  return (config: StreamConfig): boolean =>
    isMarked(config) || (restoredAt(config) !== undefined && times.has(restoredAt(config)));
};

/** Refuses a broker that holds truth, except what an interrupted restore left, or that is at work; then removes the rest. */
const makeRoom = async (
  { connection, config, topology: { streams } }: RestoreOptions,
  manager: JetStreamManager,
): Promise<void> => {
  const truth = new Set(backedUp(config.prefix));
  const infos = await Promise.all(streams.map(({ name }) => streamOrNull(manager, name)));
  const existing = infos.filter((info) => info !== null);
  const unfinished = unfinishedIn(existing);
  for (const { config: stream, state } of existing)
    if (truth.has(stream.name) && state.messages > 0 && !unfinished(stream))
      throw new NatterError(
        'invalid',
        `the broker has ${state.messages} messages in ${stream.name}; restore into an empty broker (move its store away first), nothing was changed`,
      );
  const { hosts } = bucketNames(config.prefix);
  if (existing.some(({ config: { name } }) => name === `KV_${hosts}`)) {
    const { requestTimeoutMs } = config.nats;
    const [running] = await createPresence(await openKvStore({ connection, bucket: hosts, requestTimeoutMs })).list();
    if (running !== undefined)
      throw new NatterError('invalid', `${running.process} is running; stop all of Natter, wait ten seconds and restore again`);
  }
  // A mark goes last: without one, what an interrupted removal leaves would count as truth.
  const inOrder = [...existing.filter((info) => !isMarked(info.config)), ...existing.filter((info) => isMarked(info.config))];
  for (const { config: stream } of inOrder) await manager.streams.delete(stream.name);
};
