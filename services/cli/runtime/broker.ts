import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { closeConnection, connectionProblems, disconnection, openConnection } from '../../../shared/adapters/nats/connection.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { backoffMs } from '../../../shared/kit/backoff.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { errorMessage, hasCode, NatterError } from '../../../shared/kit/errors.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { type Topology, topologyOf } from '../../../shared/wire/topology.ts';
import { obtainServer } from '../broker/install.ts';
import { startManagedServer } from '../broker/managed.ts';
import type { Installation } from '../installation.ts';
import type { World } from '../terminal.ts';

/** Where the broker is, and how to end it if it is ours. */
export interface Broker {
  readonly servers: string;
  readonly token?: string;
  readonly managed: boolean;
  stop(): Promise<void>;
}
export type BrokerAddress = Pick<Broker, 'servers' | 'token'>;

export const topologyFor = ({ prefix, nats }: Pick<Config, 'prefix' | 'nats'>): Topology =>
  topologyOf(subjectsUnder(prefix), {
    replicas: nats.replicas,
    partitions: nats.partitions,
    // Ours is provisioned again whenever it comes back; one replica of somebody else's has to keep its consumers itself.
    memoryConsumers: nats.replicas > 1 || nats.url === undefined,
  });

/** The broker of `nats.url`; `null` if none is configured and ours is to be used. */
const external = ({ nats }: Config): BrokerAddress | null =>
  nats.url === undefined ? null : { servers: nats.url, ...(nats.token !== undefined && { token: nats.token }) };

/** The broker that is to be there: the configured one, or the one a running `natter up` has. Throws `NatterError('unavailable')`. */
export const existingBroker = (config: Config, installation: Installation): BrokerAddress => {
  const address = external(config) ?? installation.broker();
  if (address !== null) return address;
  throw new NatterError('unavailable', `no broker; start "natter up" with the data directory ${config.dataDir}, or set NATS_URL`);
};

/** What is wrong with the connection to a broker, where that should be, and what to do; never its password. */
export const unreachable = ({ nats }: Config, { servers }: BrokerAddress, problem: string): NatterError => {
  const where = servers.replace(/(^|,|\/\/)[^/@,]*@/g, '$1');
  const advice =
    nats.url === undefined
      ? 'start "natter up"; where it runs, its log says what is wrong'
      : 'start it, or mend nats.url and nats.token (NATS_URL, NATS_TOKEN)';
  return new NatterError('unavailable', `${problem} (${where}); ${advice}`);
};

/** A connection for one piece of work. Throws `NatterError('unavailable')` where there is no broker. */
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

/** Starts our own broker, or uses the configured one. Writes down where it is for other processes of this installation. */
export const startBroker = async (world: World, config: Config, installation: Installation, log: Logger): Promise<Broker> => {
  const address = external(config);
  if (address !== null) return { ...address, managed: false, stop: async () => {} };
  const { path } = await obtainServer(world.env, (line) => world.terminal.note(line));
  const token = config.nats.token ?? installation.broker()?.token ?? randomBytes(32).toString('base64url');
  const server = await startManagedServer({
    binary: path,
    dataDir: config.dataDir,
    syncInterval: config.nats.syncInterval,
    token,
    log: (level, message) => log[level](message),
    onRestart: (url) => void provisionAgain(config, { servers: url, token }, log),
  });
  installation.writeBroker({ servers: server.url, token, pid: process.pid });
  const stop = async (): Promise<void> => {
    await server.stop();
    installation.removeBroker();
  };
  return { servers: server.url, token, managed: true, stop };
};

const retries = { firstMs: 100, mostMs: 2_000 };

/** After a restart: its consumers were in its memory (ADR 5). Tries until it works; meanwhile the services report what is missing. */
const provisionAgain = async (config: Config, broker: BrokerAddress, log: Logger): Promise<void> => {
  for (let failures = 0; ; failures += 1) {
    try {
      const created = await provisionBroker(config, broker);
      return log.info({ created: created.length }, 'the broker is back and provisioned');
    } catch (error) {
      log.warn({ reason: errorMessage(error) }, 'the broker is back but could not be provisioned yet');
      if (hasCode(error, 'unsupported')) return;
      await systemClock.sleep(backoffMs(retries, failures));
    }
  }
};

/** Makes the broker have our streams and consumers. Throws `NatterError('unsupported')` when it has others under their names. */
export const provisionBroker = (config: Config, broker: BrokerAddress): Promise<readonly string[]> =>
  withBroker(config, broker, 'natter provision', async (connection) => {
    const [problem] = connectionProblems(connection);
    if (problem !== undefined) throw unreachable(config, broker, problem);
    const { created, drift } = await provision(connection, topologyFor(config), { update: true });
    if (drift.length === 0) return created;
    const lines = drift
      .slice(0, 10)
      .map(({ resource, field, wanted, found }) => `  ${resource}: ${field} is ${found}, not ${wanted}`);
    const advice = 'use another "prefix" or "nats.partitions" as before, or remove what is no longer needed';
    throw new NatterError(
      'unsupported',
      [`the broker's streams are not as this version needs them; ${advice}:`, ...lines].join('\n'),
    );
  });
