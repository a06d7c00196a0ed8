import { openNats } from '../../../shared/adapters/nats/open.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog, type Logger } from '../../../shared/kit/log.ts';
import { type Config, secretsOf } from '../../../shared/runtime/config/load.ts';
import type { LiveConfig } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { startTracing } from '../../../shared/runtime/telemetry/start.ts';
import { refusePublicBind, startGateway } from '../../gateway/main.ts';
import { type CommonOptions, configOf } from '../access.ts';
import { gatewayToken, type Installation, installationIn, isAlive } from '../installation.ts';
import type { World } from '../terminal.ts';
import type { ServiceName } from '../worker-names.ts';
import { existingBroker } from './broker.ts';
import { startWorker, uniqueMember } from './compose.ts';
import { openConfig } from './configuration.ts';
import { reportHealth, untilReady, watchProblems } from './health.ts';
import { answerMetrics } from './metrics-link.ts';
import { type MetricsServerOptions, serveMetrics } from './metrics-server.ts';
import { openSkills } from './skills.ts';

const stopMs = 7_000;
const tracesMs = 1_500;

export interface ServiceOptions extends CommonOptions {
  readonly metricsPort?: number;
}

/** What a service runs with. */
interface Resources {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly installation: Installation;
  readonly tracing: Awaited<ReturnType<typeof startTracing>>;
  readonly ports: OpenPorts;
  readonly log: Logger;
  readonly token: string;
}
type OpenPorts = Awaited<ReturnType<typeof openNats>>;

/** Runs one service until SIGTERM, or until the `natter up` that started it is gone. */
export const runService = async (world: World, name: ServiceName, options: ServiceOptions): Promise<void> => {
  const resources = await openResources(world, name, options);
  const { config, live, tracing, ports, log, token } = resources;
  // A service that cannot start must end, so that it can be restarted; open connections would keep the process alive.
  const failed = async (error: unknown): Promise<never> => {
    await ports.close();
    throw error;
  };
  const service = await startService(world, name, resources).catch(failed);
  answerMetrics([service]);
  const closeMetrics = await openMetrics(options, config, { token, services: [service] }).catch(failed);
  const stopping = stopSignal(world);
  const reporting = watch(world, name, service, resources, stopping);
  await announceReady(name, service, resources, stopping);

  await aborted(stopping);
  log.info({ service: name, ...service.metrics() }, 'stopping');
  live.close();
  await closeMetrics();
  await service.stop(stopMs);
  await reporting;
  await ports.close();
  await tracing.stop(tracesMs);
  if (process.connected) process.disconnect();
};

/** Aborts on a signal, or when the parent process is gone. */
const stopSignal = (world: World): AbortSignal => {
  const stopping = new AbortController();
  world.interrupted.addEventListener('abort', () => stopping.abort());
  process.once('disconnect', () => stopping.abort());
  return stopping.signal;
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const openResources = async (world: World, name: ServiceName, options: ServiceOptions): Promise<Resources> => {
  const config = configOf(world, options);
  const installation = installationIn(config.dataDir);
  const broker = existingBroker(config, installation, name);
  const token = gatewayToken(config, installation);
  const secrets = [token, broker.token ?? '', broker.nkeySeed ?? '', ...secretsOf(config, world.env)];
  const log = createLog({ level: config.log.level, name: 'natter', secrets });
  const live = openConfig(world, options, { start: config, load: () => configOf(world, options), log });
  const tracing = await startTracing(world.env, `natter-${name}`, log);
  const ports = await openNats(config, { name: `natter ${name}`, clock: systemClock, log, ...broker });
  return { config, live, installation, tracing, ports, log, token };
};

const startService = async (
  world: World,
  name: ServiceName,
  { config, live, installation, ports, log, token }: Resources,
): Promise<Service> => {
  if (name !== 'gateway') return startWorker(name, { config: live, ports, log, env: world.env, version: world.version });
  const skills = await openSkills(world, config, log);
  const gateway = await startGateway({ config: live, ports, log, token, version: world.version, skills });
  installation.prepare();
  if (!isAlive(installation.gateway()?.pid)) installation.writeGateway({ url: gateway.url, token, pid: process.pid });
  return gateway;
};

const watched = (service: Service, ports: OpenPorts) => [service, { name: 'broker', problems: () => ports.problems() }];

/** Logs the service's problems and reports its health until the signal aborts. */
const watch = (
  world: World,
  name: ServiceName,
  service: Service,
  { ports, log }: Resources,
  signal: AbortSignal,
): Promise<void> => {
  const clock = systemClock;
  void watchProblems(watched(service, ports), { clock, log, signal });
  const report = { process: uniqueMember(name), version: world.version, presence: ports.presence };
  return reportHealth(() => [service], { ...report, clock, log, signal });
};

/** Waits until the service is ready, then tells the parent process. */
const announceReady = async (
  name: ServiceName,
  service: Service,
  { ports, log }: Resources,
  signal: AbortSignal,
): Promise<void> => {
  await untilReady(watched(service, ports), { clock: systemClock, patienceMs: Number.POSITIVE_INFINITY, signal });
  if (signal.aborted) return;
  log.info({ service: name }, 'ready');
  process.send?.('ready');
};

/** Serves the metrics if `--metrics-port` is given. A gateway has its own page, and hosts of `natter up` are on its gateway's page. */
const openMetrics = async (
  { metricsPort }: ServiceOptions,
  { gateway }: Config,
  page: Pick<MetricsServerOptions, 'token' | 'services'>,
): Promise<() => Promise<void>> => {
  if (metricsPort === undefined) return async () => {};
  refusePublicBind(gateway);
  return serveMetrics({ host: gateway.host, port: metricsPort, ...page });
};
