import { type JetStreamManager, jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isNewEnough } from '../../../shared/adapters/nats/client/version.ts';
import { driftText } from '../../../shared/adapters/nats/drift.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { missingStreams, provision } from '../../../shared/adapters/nats/provision.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import type { IssuedToken } from '../../../shared/ports/access/tokens.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { type SystemReport, systemReport } from '../../../shared/runtime/doctor/system.ts';
import type { BrokerUser } from '../../../shared/wire/grants.ts';
import type { Topology } from '../../../shared/wire/topology.ts';
import { type BrokerAddress, topologyFor, withBroker } from './broker.ts';
import { findLoss } from './log-loss.ts';
import { findQueueLosses } from './queue-loss.ts';
import { logResources } from './with-log.ts';

/** What the broker has, compared with what it should have. */
export interface BrokerReport extends SystemReport {
  readonly version: string;
  /** Used and allowed bytes of JetStream; `null` if it is not enabled or the broker is too old. `limitBytes` is `null` without a limit. */
  readonly storage: { readonly usedBytes: number; readonly limitBytes: number | null } | null;
  /** How far the local clock is behind the broker's. */
  readonly skewMs: number;
  readonly missing: readonly string[];
  /** Consumers that had been removed and were created again. */
  readonly restored: readonly string[];
  /** Settings that differ, as text. */
  readonly drift: readonly string[];
  /** Streams that a limit keeps from taking more, as text. */
  readonly full: readonly string[];
  /** What the log has lost of what was seen of it, one line for each witness (I13). */
  readonly losses: readonly string[];
  readonly tokens: readonly IssuedToken[];
}
const nothing = {
  restored: [],
  drift: [],
  full: [],
  problems: [],
  lastSeq: 0,
  losses: [],
  cursors: [],
  queues: [],
  processes: [],
  deadLetters: 0,
  openDeliveries: 0,
  failedCheckpoint: null,
  tokens: [],
};

/**
 * Inspects the broker, as its operator. Creates nothing except our missing consumers, which only the provisioner may. Throws
 * `NatterError('unavailable')`.
 */
export const brokerReport = (config: Config, as: (user: BrokerUser) => BrokerAddress): Promise<BrokerReport> =>
  withBroker(config, as('provisioner'), 'natter doctor', async (connection) => {
    const { requestTimeoutMs: timeout } = config.nats;
    const { version = 'unknown', jetstream: isEnabled = false } = connection.info ?? {};
    if (!isEnabled || !isNewEnough(version)) return { version, storage: null, skewMs: 0, missing: [], ...nothing };
    const topology = topologyFor(config);
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout });
    const storage = await storageOf(manager);
    const missing = await missingStreams(manager, topology);
    if (missing.length > 0) return { version, storage, missing, ...nothing, skewMs: await skewOf(manager, topology, missing) };
    const { created, drift } = await provision(connection, topology);
    return {
      ...{ version, storage, missing, restored: created, skewMs: await skewOf(manager, topology, missing) },
      drift: drift.map(driftText),
      full: fullAmong(await streamsOf(manager, topology)),
      ...(await withBroker(config, as('operator'), 'natter doctor', (own) => contents(config, as('operator'), own))),
    };
  });

const storageOf = async (manager: JetStreamManager): Promise<BrokerReport['storage']> => {
  const { storage, limits } = await manager.getAccountInfo();
  return { usedBytes: storage, limitBytes: limits.max_storage > 0 ? limits.max_storage : null };
};

const streamsOf = async (manager: JetStreamManager, { streams }: Topology): Promise<StreamInfo[]> => {
  const ours = new Set(streams.map(({ name }) => name));
  const found: StreamInfo[] = [];
  for await (const info of manager.streams.list()) if (ours.has(info.config.name)) found.push(info);
  return found;
};

/** Less room than this is none: one commit may need as much. */
const leastBytes = 1024 ** 2;

/** Streams at a limit that somebody has set and beyond which new messages are refused; those that drop their oldest take more. */
export const fullAmong = (infos: readonly Pick<StreamInfo, 'config' | 'state'>[]): readonly string[] =>
  infos.flatMap(({ config: { name, discard, max_bytes: mostBytes, max_msgs: mostMessages }, state: { bytes, messages } }) => {
    if (discard !== 'new') return [];
    if (mostBytes > 0 && mostBytes - bytes < leastBytes) return [`${name} has ${bytes} of ${mostBytes} bytes`];
    return mostMessages > 0 && messages >= mostMessages ? [`${name} has ${messages} of ${mostMessages} messages`] : [];
  });

/** The broker's responses have its time; half of the round trip counts as the way back. */
const skewOf = async (manager: JetStreamManager, { streams }: Topology, missing: readonly string[]): Promise<number> => {
  const present = streams.find(({ name }) => !missing.includes(name));
  if (present === undefined) return 0;
  const before = systemClock.now();
  const { ts } = await manager.streams.info(present.name);
  return Date.parse(String(ts)) - (before + systemClock.now()) / 2;
};

const contents = async (
  config: Config,
  address: BrokerAddress,
  connection: NatsConnection,
): Promise<SystemReport & Pick<BrokerReport, 'losses' | 'tokens'>> => {
  const ports = await openNats(config, { name: 'natter doctor', clock: systemClock, ...address });
  try {
    const losses = (await findLoss(await logResources(config, connection, ports)))?.problems ?? [];
    const lostQueues = await findQueueLosses({ config, connection });
    const issued = await ports.tokens.watch();
    const report = await systemReport(ports);
    const tokens = [...issued.all()];
    await issued.close();
    const problems = [
      ...lostQueues.map(({ problem }) => new HealthProblem('queue_went_back', problem)),
      // Whether a queue went back is known by now.
      ...report.problems.filter(({ code }) => lostQueues.length === 0 || code !== 'starting'),
    ];
    return { ...report, problems, losses, tokens };
  } finally {
    await ports.close();
  }
};
