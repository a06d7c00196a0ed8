import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  type BrokerCredentials,
  closeConnection,
  connectionProblems,
  disconnection,
  openConnection,
} from '../../../shared/adapters/nats/client/connection.ts';
import { driftText } from '../../../shared/adapters/nats/drift.ts';
import { missingStreams, type ProvisionReport, provision } from '../../../shared/adapters/nats/provision.ts';
import { backoffMs } from '../../../shared/kit/backoff.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { errorMessage, hasCode, NatterError } from '../../../shared/kit/errors.ts';
import type { HealthProblem } from '../../../shared/kit/health-problem.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import type { BrokerUser } from '../../../shared/wire/grants.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { type Topology, topologyOf } from '../../../shared/wire/topology.ts';
import { obtainServer } from '../broker/install.ts';
import { startManagedServer } from '../broker/managed.ts';
import { readmitLeftOut, settleStore } from '../broker/store.ts';
import { credentialsOf } from '../broker/users.ts';
import { type Installation, usersFolder } from '../installation.ts';
import type { World } from '../terminal.ts';
import { credentialsFor } from './broker-credentials.ts';

/** Where the broker is, and with what to connect. */
export interface BrokerAddress extends BrokerCredentials {
  readonly servers: string;
  readonly token?: string;
  readonly inboxPrefix?: string;
  /** What it warned about since it started; only of a managed one that this process runs. */
  warnings?(): readonly string[];
}
/** The broker, and how to stop it if this process manages it. */
export interface Broker {
  readonly servers: string;
  readonly managed: boolean;
  /** Its address for one of its users. */
  as(user: BrokerUser): BrokerAddress;
  /** What only its supervisor knows; of a broker that is not managed nothing. */
  problems(): readonly HealthProblem[];
  stop(): Promise<void>;
}

export const topologyFor = ({ prefix, nats }: Pick<Config, 'prefix' | 'nats'>): Topology =>
  topologyOf(subjectsUnder(prefix), {
    replicas: nats.replicas,
    partitions: nats.partitions,
    // A managed broker is provisioned again after a restart; a single external one must keep its consumers itself.
    memoryConsumers: nats.replicas > 1 || nats.url === undefined,
  });

/** Where the broker is: the configured one, or that of a running `natter up`. Throws `NatterError('unavailable')` if there is neither. */
export const serversOf = ({ nats, dataDir }: Config, installation: Installation): string => {
  const servers = nats.url ?? installation.broker()?.servers;
  if (servers !== undefined) return servers;
  throw new NatterError('unavailable', `no broker; start "natter up" with the data directory ${dataDir}, or set NATS_URL`);
};

/**
 * That broker for one of its users. Throws as `serversOf`, as `credentialsFor`, and `'unavailable'` when the user's seed cannot be
 * read.
 */
export const existingBroker = (config: Config, installation: Installation, user: BrokerUser = 'operator'): BrokerAddress => {
  const { url, token, usersDir } = config.nats;
  const servers = serversOf(config, installation);
  if (url === undefined) return { servers, ...credentialsOf(usersFolder(config.dataDir), user) };
  return {
    servers,
    ...(token !== undefined && { token }),
    ...credentialsFor(config),
    ...(usersDir !== undefined && credentialsOf(usersDir, user)),
  };
};

/** What of an address nobody may see: neither a log nor an event. */
export const secretsOfBroker = ({ token = '', nkeySeed = '' }: BrokerAddress): readonly string[] => [
  token,
  typeof nkeySeed === 'string' ? nkeySeed : nkeySeed(),
];

/** An error for a broker that cannot be reached, with its address, and a fix unless the problem has one; never with its password. */
export const unreachable = ({ nats }: Config, { servers }: BrokerAddress, problem: string): NatterError => {
  const where = servers.replace(/(^|,|\/\/)[^/@,]*@/g, '$1');
  const advice =
    nats.url === undefined
      ? 'start "natter up"; if it is running, see its log'
      : 'start it, or correct nats.url and nats.token (NATS_URL, NATS_TOKEN)';
  const [what, ...fix] = problem.split('; ');
  return new NatterError('unavailable', `${what} (${where}); ${fix.length > 0 ? fix.join('; ') : advice}`);
};

/** Opens a connection for `work` and closes it afterwards. Throws `NatterError('unavailable')` if the broker cannot be reached. */
export const withBroker = async <T>(
  config: Config,
  address: BrokerAddress,
  name: string,
  work: (connection: NatsConnection) => Promise<T>,
): Promise<T> => {
  const connection = await openConnection({ ...address, name, requestTimeoutMs: config.nats.requestTimeoutMs });
  try {
    const problem = disconnection(connection);
    if (problem !== null) throw unreachable(config, address, problem);
    return await work(connection);
  } finally {
    await closeConnection(connection);
  }
};

/** Starts the managed broker, or uses the configured one. Stores its address for other processes of this installation. */
export const startBroker = async (world: World, config: Config, installation: Installation, log: Logger): Promise<Broker> => {
  const { url } = config.nats;
  const own = (user: BrokerUser): BrokerAddress => existingBroker(config, installation, user);
  if (url !== undefined) return { servers: url, managed: false, as: own, problems: () => [], stop: async () => {} };
  const { path } = await obtainServer(world.env, world.terminal);
  const server = await startManagedServer({
    binary: path,
    dataDir: config.dataDir,
    syncInterval: config.nats.syncInterval,
    prefix: config.prefix,
    log: (level, message) => log[level](message),
    onRestart: () => void provisionAgain(config, as('provisioner'), log),
  });
  const as = (user: BrokerUser): BrokerAddress => ({
    servers: server.url,
    warnings: () => server.warnings(),
    ...credentialsOf(usersFolder(config.dataDir), user),
  });
  installation.writeBroker({ servers: server.url, pid: process.pid });
  const stop = async (): Promise<void> => {
    await server.stop();
    installation.removeBroker();
  };
  return { servers: server.url, managed: true, as, problems: () => server.problems(), stop };
};

const retries = { firstMs: 100, mostMs: 2_000 };

/** Creates the consumers again after a restart: they were in the broker's memory (ADR 5). Retries until it works. */
const provisionAgain = async (config: Config, broker: BrokerAddress, log: Logger): Promise<void> => {
  for (let failures = 0; ; failures += 1) {
    try {
      const created = await provisionBroker(config, broker);
      return log.info({ created: created.length }, 'broker restarted and provisioned');
    } catch (error) {
      const reason = errorMessage(error);
      if (hasCode(error, 'unsupported')) return log.error({ reason }, 'broker restarted, but cannot be provisioned');
      log.warn({ reason }, 'broker restarted, but not provisioned yet; retrying');
      await systemClock.sleep(backoffMs(retries, failures));
    }
  }
};

/**
 * Creates our streams and consumers. On a managed broker, what a power cut has damaged is repaired or refused first, and all of its store is on
 * the disk when this resolves: nothing may be acknowledged before (F13). `sync` is another one in tests. Throws `NatterError('unsupported')` if
 * streams exist with other settings, or were left out by the broker although they hold messages.
 */
export const provisionBroker = (
  config: Config,
  broker: BrokerAddress,
  sync?: (folder: string) => Promise<void>,
): Promise<readonly string[]> =>
  withBroker(config, broker, 'natter provision', async (connection) => {
    const [problem] = connectionProblems(connection);
    if (problem !== undefined) throw unreachable(config, broker, problem.message);
    const topology = topologyFor(config);
    const isManaged = config.nats.url === undefined;
    if (isManaged) {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: config.nats.requestTimeoutMs });
      const missing = await missingStreams(manager, topology);
      const specs = topology.streams.filter(({ name }) => missing.includes(name));
      await readmitLeftOut(config.dataDir, specs, broker.warnings?.() ?? []);
    }
    const { created, drift } = await provision(connection, topology, { update: true });
    if (drift.length > 0) throw driftError(drift);
    if (isManaged) await settleStore(config.dataDir, topology.streams, sync);
    return created;
  });

const driftError = (drift: ProvisionReport['drift']): NatterError => {
  const lines = drift.slice(0, 10).map((each) => `  ${driftText(each)}`);
  const advice = 'use another "prefix", the former "nats.partitions", or remove the old streams';
  const head = `the broker's streams do not have the settings this version needs; ${advice}:`;
  return new NatterError('unsupported', [head, ...lines].join('\n'));
};
