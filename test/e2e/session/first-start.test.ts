import { jetstreamManager } from '@nats-io/jetstream';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startWorker } from '../../../services/cli/runtime/compose.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { loadConfig } from '../../../shared/runtime/config/load.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { workerNames } from '../../../shared/runtime/worker-names.ts';
import { streamNames } from '../../../shared/wire/topology.ts';
import { startServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';

test('a first start, warm-up included, leaves no trace in the log: no sequence is used and nothing purged (I13)', async () => {
  const server = await startServer();
  await provisionFor(server, { partitions: 4 });
  const defaults = loadConfig({ env: {}, home: server.storeDir });
  const config = { ...defaults, nats: { ...defaults.nats, partitions: 4 } };
  const opened = portsOn(server, config);
  const [services, log]: [Service[], pino.Logger] = [[], pino({ level: 'silent' })];
  for (const name of workerNames)
    services.push(
      await startWorker(name, {
        ...{ config: { current: () => config }, ports: await opened.as(name), log },
        ...{ env: {}, tokens: [], version: '0' },
      }),
    );
  await vi.waitFor(() => expect(services.flatMap((service) => service.problems())).toEqual([]));

  const connection = await openConnection({ servers: server.url, name: 'test', requestTimeoutMs: 1_000 });
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info(streamNames(config.prefix).events);
  await connection.close();
  await Promise.all(services.map((service) => service.stop(2_000)));
  await opened.close();
  await server.stop();
  expect(state).toMatchObject({ messages: 0, last_seq: 0 });
});
