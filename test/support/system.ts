import { openConnection } from '../../shared/adapters/nats/connection.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { topologyOf } from '../../shared/wire/topology.ts';

/** What a system needs on a broker: under which prefix, and over how many partitions its sessions are spread. */
export interface Provision {
  readonly prefix?: string;
  readonly partitions: number;
  /** Consumers that the broker forgets when it restarts. */
  readonly memoryConsumers?: boolean;
}

/** Creates the streams, consumers and buckets of a system on one server, so that its services can be started there. */
export const provisionFor = async (servers: string, { prefix = 'natter', ...options }: Provision): Promise<void> => {
  const connection = await openConnection({ servers, name: 'provision', requestTimeoutMs: 5_000 });
  await provision(connection, topologyOf(subjectsUnder(prefix), { replicas: 1, ...options }));
  await connection.close();
};
