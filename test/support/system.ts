import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { BrokerUser } from '../../shared/wire/grants.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { topologyOf } from '../../shared/wire/topology.ts';
import type { TestServer } from './nats.ts';

/** What a system needs on a broker: under which prefix, and over how many partitions its sessions are spread. */
export interface Provision {
  readonly prefix?: string;
  readonly partitions: number;
  /** Consumers that the broker forgets when it restarts. */
  readonly memoryConsumers?: boolean;
}

/** Creates the streams, consumers and buckets of a system on one server, so that its services can be started there. */
export const provisionFor = async (
  server: Pick<TestServer, 'as'>,
  { prefix = 'natter', ...options }: Provision,
): Promise<void> => {
  const connection = await openConnection({ ...server.as('provisioner'), name: 'provision', requestTimeoutMs: 5_000 });
  await provision(connection, topologyOf(subjectsUnder(prefix), { replicas: 1, ...options }));
  await connection.close();
};

/** Opens ports on a test's server, each as one of its users, and closes them all together. */
export const portsOn = (server: Pick<TestServer, 'as'>, config: Config) => {
  const opened: Ports[] = [];
  return {
    as: async (user: BrokerUser | 'tester'): Promise<Ports> => {
      const ports = await openNats(config, { name: user, clock: systemClock, ...server.as(user) });
      opened.push(ports);
      return ports;
    },
    close: async (): Promise<void> => {
      await Promise.all(opened.map((ports) => ports.close()));
    },
  };
};
