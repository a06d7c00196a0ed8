import { openNats } from '../../../shared/adapters/nats/open.ts';
import { secretsOf } from '../../../shared/config/load.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { Service } from '../../../shared/kit/service.ts';
import { startGateway } from '../../gateway/main.ts';
import { type CommonOptions, configOf } from '../access.ts';
import { gatewayToken, installationIn, isAlive } from '../installation.ts';
import type { World } from '../terminal.ts';
import type { ServiceName } from '../worker-names.ts';
import { existingBroker } from './broker.ts';
import { startWorker } from './compose.ts';
import { openConfig } from './configuration.ts';
import { untilReady, watchProblems } from './health.ts';

const stopMs = 7_000;

/** Runs one service until it is asked to stop, or until the `natter up` that started it is gone. */
export const runService = async (world: World, name: ServiceName, options: CommonOptions): Promise<void> => {
  const config = configOf(world, options);
  const installation = installationIn(config.dataDir);
  const broker = existingBroker(config, installation);
  const token = gatewayToken(config, installation);
  const secrets = [token, broker.token ?? '', ...secretsOf(config, world.env)];
  const log = createLog({ level: config.log.level, name: 'natter', secrets });
  const live = openConfig(world, options, { start: config, load: () => configOf(world, options), log });
  const clock = systemClock;
  const ports = await openNats(config, { name: `natter ${name}`, clock, log, ...broker });

  const start = async (): Promise<Service> => {
    if (name !== 'gateway') return startWorker(name, { config: live, ports, log, env: world.env, version: world.version });
    const gateway = await startGateway({ config: live, ports, log, token, version: world.version });
    installation.prepare();
    if (!isAlive(installation.gateway()?.pid)) installation.writeGateway({ url: gateway.url, token, pid: process.pid });
    return gateway;
  };
  // A service that cannot start must end, or nobody starts it again; its connections would keep it alive.
  const service = await start().catch(async (error: unknown) => {
    await ports.close();
    throw error;
  });

  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
  world.interrupted.addEventListener('abort', () => stopping.abort());
  process.once('disconnect', () => stopping.abort());
  const watched = [service, { name: 'broker', problems: () => ports.problems() }];
  void watchProblems(watched, { clock, log, signal: stopping.signal });
  await untilReady(watched, { clock, patienceMs: Number.POSITIVE_INFINITY, signal: stopping.signal });
  if (!stopping.signal.aborted) {
    log.info({ service: name }, 'ready');
    process.send?.('ready');
  }

  await stopped;
  log.info({ service: name, ...service.metrics() }, 'stopping');
  live.close();
  await service.stop(stopMs);
  await ports.close();
  if (process.connected) process.disconnect();
};
