import type { NatsConnection } from '@nats-io/transport-node';
import { createCursors } from '../../../shared/adapters/kv/cursors.ts';
import { createWritersWitness } from '../../../shared/adapters/kv/guards/writers-witness.ts';
import { createIndexRepair } from '../../../shared/adapters/kv/index-repair.ts';
import { createMemoryStore } from '../../../shared/adapters/kv/memory/memory-store.ts';
import { dropSnapshots } from '../../../shared/adapters/nats/drop-snapshots.ts';
import { giveUpPlaces } from '../../../shared/adapters/nats/give-up.ts';
import { openKvStore } from '../../../shared/adapters/nats/kv-store.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { bucketNames } from '../../../shared/wire/topology.ts';
import { type BrokerAddress, withBroker } from './broker.ts';
import type { LossTools } from './log-loss.ts';

/** What the losses of the log and of the queues are judged and accepted with, on a broker. */
export interface LogResources extends LossTools {
  readonly config: Config;
  readonly connection: NatsConnection;
  readonly ports: Ports;
}

/** Opens them for `work`. Throws `NatterError('unavailable')` if the broker cannot be reached. */
export const withLog = <T>(config: Config, address: BrokerAddress, work: (resources: LogResources) => Promise<T>): Promise<T> =>
  withBroker(config, address, 'natter log', async (connection) => {
    const ports = await openNats(config, { ...address, name: 'natter log', clock: systemClock });
    try {
      return await work(await logResources(config, connection, ports));
    } finally {
      await ports.close();
    }
  });

export const logResources = async (config: Config, connection: NatsConnection, ports: Ports): Promise<LogResources> => {
  const { prefix } = config;
  const { requestTimeoutMs } = config.nats;
  const bucketOf = (name: 'witness' | 'index' | 'memory') =>
    openKvStore({ connection, bucket: bucketNames(prefix)[name], requestTimeoutMs });
  const [witness, index, memory] = await Promise.all([bucketOf('witness'), bucketOf('index'), bucketOf('memory')]);
  const timeoutMs = requestTimeoutMs;
  return {
    ...{ config, connection, ports },
    witness: createWritersWitness(witness),
    cursors: createCursors(index),
    indexRepair: createIndexRepair(index),
    memory: createMemoryStore(memory, systemClock),
    dropSnapshots: () => dropSnapshots(connection, { prefix, timeoutMs }),
    giveUpPlaces: (after, through) =>
      giveUpPlaces(connection, { subject: subjectsUnder(prefix).lost, after, through, timeoutMs }),
  };
};
