import type { NatsConnection } from '@nats-io/transport-node';
import {
  type ConnectionSettings,
  closeConnection,
  connectionProblems,
  disconnection,
  openConnection,
} from '../../../shared/adapters/nats/connection.ts';
import { driftText, provision } from '../../../shared/adapters/nats/provision.ts';
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
import { credentialsOf } from '../broker/users.ts';
import { type Installation, usersFolder } from '../installation.ts';
import type { World } from '../terminal.ts';

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
/** Where the broker is, and what shows who is connecting. */
export type BrokerAddress = Omit<ConnectionSettings, 'name' | 'requestTimeoutMs'>;

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

/** That broker for one of its users. Throws `NatterError('unavailable')`, also when the user's seed cannot be read. */
export const existingBroker = (config: Config, installation: Installation, user: BrokerUser = 'operator'): BrokerAddress => {
  const { url, token, usersDir } = config.nats;
  const servers = serversOf(config, installation);
  if (url === undefined) return { servers, ...credentialsOf(usersFolder(config.dataDir), user) };
  return {
    servers,
    ...(token !== undefined && { token }),
    ...(usersDir !== undefined && credentialsOf(usersDir, user)),
  };
};

/** An error for a broker that cannot be reached, with its address and a fix; never with its password. */
export const unreachable = ({ nats }: Config, { servers }: BrokerAddress, problem: string): NatterError => {
  const where = servers.replace(/(^|,|\/\/)[^/@,]*@/g, '$1');
  const advice =
    nats.url === undefined
      ? 'start "natter up"; if it is running, see its log'
      : 'start it, or correct nats.url and nats.token (NATS_URL, NATS_TOKEN)';
  return new NatterError('unavailable', `${problem} (${where}); ${advice}`);
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
  const { path } = await obtainServer(world.env, (line) => world.terminal.note(line));
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
      log.warn({ reason: errorMessage(error) }, 'broker restarted, but not provisioned yet; retrying');
      if (hasCode(error, 'unsupported')) return;
      await systemClock.sleep(backoffMs(retries, failures));
    }
  }
};

/** Creates our streams and consumers. Throws `NatterError('unsupported')` if some exist with other settings. */
export const provisionBroker = (config: Config, broker: BrokerAddress): Promise<readonly string[]> =>
  withBroker(config, broker, 'natter provision', async (connection) => {
    const [problem] = connectionProblems(connection);
    if (problem !== undefined) throw unreachable(config, broker, problem.message);
    const { created, drift } = await provision(connection, topologyFor(config), { update: true });
    if (drift.length === 0) return created;
    const lines = drift.slice(0, 10).map((each) => `  ${driftText(each)}`);
    const advice = 'use another "prefix", the former "nats.partitions", or remove the old streams';
    throw new NatterError(
      'unsupported',
      [`the broker's streams do not have the settings this version needs; ${advice}:`, ...lines].join('\n'),
    );
  });
