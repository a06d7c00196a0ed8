import { openNats } from '../../../shared/adapters/nats/open.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import { type Config, secretsOf } from '../../../shared/runtime/config/load.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { startTracing } from '../../../shared/runtime/telemetry/start.ts';
import { refusePublicBind, startGateway } from '../../gateway/main.ts';
import { type CommonOptions, configOf } from '../access.ts';
import { gatewayToken, installationIn, isAlive } from '../installation.ts';
import type { World } from '../terminal.ts';
import type { ServiceName } from '../worker-names.ts';
import { existingBroker } from './broker.ts';
import { startWorker, uniqueMember } from './compose.ts';
import { openConfig } from './configuration.ts';
import { tellHealth, untilReady, watchProblems } from './health.ts';
import { answerMetrics } from './metrics-link.ts';
import { type MetricsServerOptions, serveMetrics } from './metrics-server.ts';
import { openSkills } from './skills.ts';

const stopMs = 7_000;
const tracesMs = 1_500;

export interface ServiceOptions extends CommonOptions {
  readonly metricsPort?: number;
}

/** Runs one service until it is asked to stop, or until the `natter up` that started it is gone. */
export const runService = async (world: World, name: ServiceName, options: ServiceOptions): Promise<void> => {
  const config = configOf(world, options);
  const installation = installationIn(config.dataDir);
  const broker = existingBroker(config, installation);
  const token = gatewayToken(config, installation);
  const secrets = [token, broker.token ?? '', ...secretsOf(config, world.env)];
  const log = createLog({ level: config.log.level, name: 'natter', secrets });
  const live = openConfig(world, options, { start: config, load: () => configOf(world, options), log });
  const clock = systemClock;
  const tracing = await startTracing(world.env, `natter-${name}`, log);
  const ports = await openNats(config, { name: `natter ${name}`, clock, log, ...broker });

  const start = async (): Promise<Service> => {
    if (name !== 'gateway') return startWorker(name, { config: live, ports, log, env: world.env, version: world.version });
    const skills = await openSkills(world, config, log);
    const gateway = await startGateway({ config: live, ports, log, token, version: world.version, skills });
    installation.prepare();
    if (!isAlive(installation.gateway()?.pid)) installation.writeGateway({ url: gateway.url, token, pid: process.pid });
    return gateway;
  };
  // A service that cannot start must end, or nobody starts it again; its connections would keep it alive.
  const failed = async (error: unknown): Promise<never> => {
    await ports.close();
    throw error;
  };
  const service = await start().catch(failed);
  answerMetrics([service]);
  const closeMetrics = await openMetrics(options, config, { token, services: [service] }).catch(failed);

  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
  world.interrupted.addEventListener('abort', () => stopping.abort());
  process.once('disconnect', () => stopping.abort());
  const watched = [service, { name: 'broker', problems: () => ports.problems() }];
  void watchProblems(watched, { clock, log, signal: stopping.signal });
  const told = { process: uniqueMember(name), version: world.version, presence: ports.presence };
  const telling = tellHealth(() => [service], { ...told, clock, log, signal: stopping.signal });
  await untilReady(watched, { clock, patienceMs: Number.POSITIVE_INFINITY, signal: stopping.signal });
  if (!stopping.signal.aborted) {
    log.info({ service: name }, 'ready');
    process.send?.('ready');
  }

  await stopped;
  log.info({ service: name, ...service.metrics() }, 'stopping');
  live.close();
  await closeMetrics();
  await service.stop(stopMs);
  await telling;
  await ports.close();
  await tracing.stop(tracesMs);
  if (process.connected) process.disconnect();
};

/** A page of its own where one is asked for: a gateway has one, and hosts of `natter up` are on its gateway's. */
const openMetrics = async (
  { metricsPort }: ServiceOptions,
  { gateway }: Config,
  page: Pick<MetricsServerOptions, 'token' | 'services'>,
): Promise<() => Promise<void>> => {
  if (metricsPort === undefined) return async () => {};
  refusePublicBind(gateway);
  return serveMetrics({ host: gateway.host, port: metricsPort, ...page });
};
