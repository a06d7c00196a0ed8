import { jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { topologyOf } from '../../shared/wire/topology.ts';
import { startCluster, startServer } from '../support/nats.ts';

test('times', async () => {
  for (const replicas of [1, 3]) {
    const t0 = performance.now();
    const c = replicas === 3 ? await startCluster() : await startServer();
    console.log(replicas, 'start', Math.round(performance.now() - t0));
    const connection = await openConnection({ servers: c.url, name: 'test', requestTimeoutMs: 2_000 });
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 5_000 });
    for (const partitions of [4, 4, 4, 64]) {
      const topology = topologyOf(subjectsUnder('natter'), { replicas, partitions });
      const t = performance.now();
      await provision(connection, { ...topology, consumers: [] });
      const t1 = performance.now();
      await provision(connection, topology);
      const t2 = performance.now();
      await provision(connection, topology);
      const t3 = performance.now();
      for await (const { config } of manager.streams.list()) await manager.streams.delete(config.name);
      const t4 = performance.now();
      console.log(replicas, partitions, topology.streams.length, 'streams', Math.round(t1 - t), 'consumers', topology.consumers.length, Math.round(t2 - t1), 'again', Math.round(t3 - t2), 'delete', Math.round(t4 - t3));
    }
    await connection.close();
    await c.stop();
  }
  expect(1).toBe(1);
}, 90_000);
