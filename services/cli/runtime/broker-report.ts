import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isNewEnough } from '../../../shared/adapters/nats/client/version.ts';
import { driftText } from '../../../shared/adapters/nats/drift.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { missingStreams, provision } from '../../../shared/adapters/nats/provision.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { IssuedToken } from '../../../shared/ports/access/tokens.ts';
import { deliveryService } from '../../../shared/ports/dead-letters.ts';
import type { HealthReport } from '../../../shared/ports/presence.ts';
import { commitsBehind } from '../../../shared/runtime/commits-behind.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import type { BrokerUser } from '../../../shared/wire/grants.ts';
import type { Topology } from '../../../shared/wire/topology.ts';
import { type BrokerAddress, topologyFor, withBroker } from './broker.ts';
import { findLoss } from './log-loss.ts';
import { findQueueLosses } from './queue-loss.ts';
import { logResources } from './with-log.ts';

/** What the broker has, compared with what it should have. */
export interface BrokerReport {
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
  /** Why the services could not rely on it; the same that `/readyz` says. */
  readonly problems: readonly HealthProblem[];
  readonly lastSeq: number;
  /** What the log has lost of what was seen of it, one line for each witness (I13). */
  readonly losses: readonly string[];
  /** The position of each reader of the log. */
  readonly cursors: readonly { readonly name: string; readonly seq: number; readonly behind: number }[];
  /** Messages not yet processed. */
  readonly queues: readonly { readonly name: string; readonly count: number }[];
  readonly processes: readonly HealthReport[];
  readonly deadLetters: number;
  /** Those of them that are outgoing messages which may not have arrived (D12). */
  readonly openDeliveries: number;
  readonly tokens: readonly IssuedToken[];
}
const nothing = {
  restored: [],
  drift: [],
  problems: [],
  lastSeq: 0,
  losses: [],
  cursors: [],
  queues: [],
  processes: [],
  deadLetters: 0,
  openDeliveries: 0,
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
      ...(await withBroker(config, as('operator'), 'natter doctor', (own) => contents(config, as('operator'), own))),
    };
  });

const storageOf = async (manager: JetStreamManager): Promise<BrokerReport['storage']> => {
  const { storage, limits } = await manager.getAccountInfo();
  return { usedBytes: storage, limitBytes: limits.max_storage > 0 ? limits.max_storage : null };
};

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
): Promise<
  Pick<
    BrokerReport,
    'problems' | 'lastSeq' | 'losses' | 'cursors' | 'queues' | 'processes' | 'deadLetters' | 'openDeliveries' | 'tokens'
  >
> => {
  const ports = await openNats(config, { name: 'natter doctor', clock: systemClock, ...address });
  try {
    const losses = (await findLoss(await logResources(config, connection, ports)))?.problems ?? [];
    const lostQueues = await findQueueLosses({ config, connection });
    const problems = [
      ...lostQueues.map(({ problem }) => new HealthProblem('queue_went_back', problem)),
      // Whether a queue went back is known by now.
      ...ports.problems().filter(({ code }) => lostQueues.length === 0 || code !== 'starting'),
    ];
    const issued = await ports.tokens.watch();
    const [{ lastSeq }, delivery, index, processes, commands, inbound, checkpoints, deadLetters, openDeliveries] =
      await Promise.all([
        ports.events.info(),
        ports.cursors.get('delivery').then(({ seq }) => seq),
        ports.index.position(),
        ports.presence.list(),
        ports.commands.lag(),
        ports.inbound.lag(),
        ports.checkpoints.lag(),
        ports.deadLetters.count(),
        ports.deadLetters.count(deliveryService),
      ]);
    const tokens = [...issued.all()];
    await issued.close();
    return {
      ...{ problems, lastSeq, losses, processes, deadLetters, openDeliveries, tokens },
      cursors: [
        // Its cursor stands at the last commit that sends something, so what it is behind is what it has in hand.
        { name: 'delivery', seq: delivery, behind: deliveryBehind(processes, lastSeq - delivery) },
        { name: 'index', seq: index, behind: await commitsBehind(ports.events, index) },
      ],
      queues: [
        { name: 'commands', count: commands },
        { name: 'inbound', count: inbound },
        { name: 'checkpoints', count: checkpoints },
      ],
    };
  } finally {
    await ports.close();
  }
};

/** What delivery is behind: the outbounds in hand, and what waits in the log. If its window is full, the rest of the log waits as well. */
export const deliveryBehind = (processes: readonly HealthReport[], unread: number): number => {
  const inHand = processes
    .flatMap(({ services }) => services.filter(({ name }) => name === 'delivery'))
    .reduce((sum, { metrics }) => sum + (metrics.in_hand ?? 0) + (metrics.waiting ?? 0), 0);
  return inHand < limits.deliveryWindow ? inHand : Math.max(inHand, unread);
};
