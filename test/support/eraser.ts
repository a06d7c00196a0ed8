import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { openEraser } from '../../shared/adapters/nats/eraser.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import { configSchema } from '../../shared/domain/config/schema.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { Eraser } from '../../shared/ports/eraser.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { topologyOf } from '../../shared/wire/topology.ts';

/** Prepares a broker and opens all ports and the eraser on it. */
export const openNatsEraser = async (
  servers: string,
  replicas: 1 | 3,
): Promise<{ ports: Ports; eraser: Eraser; close(): Promise<void> }> => {
  const config = configSchema.parse({ nats: { partitions: 4, replicas } });
  const { requestTimeoutMs } = config.nats;
  const subjects = subjectsUnder(config.prefix);
  const connection = await openConnection({ servers, name: 'eraser', requestTimeoutMs });
  await provision(connection, topologyOf(subjects, { replicas, partitions: 4 }));
  const ports = await openNats(config, { name: 'eraser test', clock: systemClock, servers });
  const { events, snapshots, clock } = ports;
  const eraser = await openEraser({ connection, subjects, events, snapshots, clock, requestTimeoutMs });
  const close = async (): Promise<void> => {
    await ports.close();
    await connection.close();
  };
  return { ports, eraser, close };
};
