import { ProviderEmbeddings } from '../../../shared/adapters/model/embeddings.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { HealthProblem, readinessOf } from '../../../shared/kit/health-problem.ts';
import { createLog, type Logger } from '../../../shared/kit/log.ts';
import { type Config, secretsOf } from '../../../shared/runtime/config/load.ts';
import { withProviderKeys } from '../../../shared/runtime/config/provider-keys.ts';
import type { LiveConfig } from '../../../shared/runtime/config/reload.ts';
import { RecentLog } from '../../../shared/runtime/recent-log.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { startTracing } from '../../../shared/runtime/telemetry/start.ts';
import type { ServiceName } from '../../../shared/runtime/worker-names.ts';
import { refusePublicBind, startGateway } from '../../gateway/main.ts';
import { type CommonOptions, configOf, sourceOf } from '../access.ts';
import { gatewayToken, type Installation, installationIn, isAlive } from '../installation.ts';
import type { World } from '../terminal.ts';
import { existingBroker, secretsOfBroker } from './broker.ts';
import { startWorker, uniqueMember } from './compose.ts';
import { openConfig } from './configuration.ts';
import { reportHealth, untilReady, watchProblems } from './health/report.ts';
import { type HealthServerOptions, serveHealth } from './health/server.ts';
import { answerMetrics } from './metrics-link.ts';
import { openSkills } from './skills.ts';
import { snapshotKeyFor } from './snapshot-key.ts';

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
  readonly recent: RecentLog;
  readonly token: string;
  /** The environment, with the keys of the providers where the service asks models. */
  readonly env: World['env'];
  /** Tokens of this installation, of the gateway and the broker. */
  readonly tokens: readonly string[];
}
type OpenPorts = Awaited<ReturnType<typeof openNats>>;

/** Runs one service until SIGTERM, or until the `natter up` that started it is gone. */
export const runService = async (world: World, name: ServiceName, options: ServiceOptions): Promise<void> => {
  const stopping = stopSignal(world);
  const resources = await openResources(world, name, options);
  const { config, live, tracing, ports, token } = resources;
  const started: Service[] = [];
  const problems = (): readonly HealthProblem[] => problemsOf(name, started, ports, stopping);
  let closePage = async (): Promise<void> => {};
  // A service that cannot start must end, so that it can be restarted; what is open would keep the process alive.
  try {
    closePage = await openPage(options, config, {
      token,
      version: world.version,
      services: () => started.map((service) => ({ ...service, problems })),
      problems,
    });
    // A gateway answers at once, that it is not ready.
    if (name !== 'gateway') await brokerUsable(ports, stopping);
    if (!stopping.aborted) {
      const service = await startService(world, name, resources, options);
      started.push(service);
      await serve(world, { ...service, problems }, resources, stopping);
    }
  } finally {
    live.close();
    await closePage();
    await ports.close();
    await tracing.stop(tracesMs);
    // The channel to the parent process too keeps this one alive while somebody listens to it.
    if (process.connected) process.disconnect();
  }
};

/** Resolves once the streams can be read, or on a signal: a service may start before its broker is provisioned. */
const brokerUsable = async (ports: OpenPorts, signal: AbortSignal): Promise<void> => {
  const broker = { name: 'broker', problems: () => ports.problems().filter((problem) => problem.stops({ changes: false })) };
  await untilReady([broker], { clock: systemClock, patienceMs: Number.POSITIVE_INFINITY, signal });
};

/** Reports the health of a service that has started, until the signal aborts; then stops it. */
const serve = async (world: World, service: Service, resources: Resources, stopping: AbortSignal): Promise<void> => {
  answerMetrics([service]);
  const reporting = watch(world, service, resources, stopping);
  await announceReady(service, resources, stopping);
  await aborted(stopping);
  resources.log.info({ service: service.name, ...service.metrics() }, 'stopping');
  await service.stop(stopMs);
  await reporting;
};

/** Aborts on a signal, or when the parent process is gone: it may be gone before this process has loaded its code, and nothing tells then. */
const stopSignal = (world: World): AbortSignal => {
  const stopping = new AbortController();
  world.interrupted.addEventListener('abort', () => stopping.abort());
  process.once('disconnect', () => stopping.abort());
  if (process.connected === false) stopping.abort();
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
  const tokens = [token, ...secretsOfBroker(broker)];
  const env = keysFor(name, config, world.env);
  const recent = new RecentLog();
  const log = createLog({ level: config.log.level, name: 'natter', secrets: [...tokens, ...secretsOf(config, env)], recent });
  const live = openConfig(world, options, { start: config, load: () => configOf(world, options), log });
  const tracing = await startTracing(world.env, `natter-${name}`, log);
  const key = snapshotKeyFor(config, installation);
  const discovered = { service: name, id: uniqueMember(name), version: world.version };
  const ports = await openNats(config, { name: `natter ${name}`, discovered, clock: systemClock, log, ...broker, ...key });
  return { config, live, installation, tracing, ports, log, recent, token, env, tokens };
};

/** The gateway asks a provider for embeddings alone: where it may not have the keys, it works without them. */
const keysFor = (name: ServiceName, config: Config, env: World['env']): World['env'] => {
  if (name === 'router' || name === 'delivery') return env;
  try {
    return withProviderKeys(config, env);
  } catch (error) {
    if (name === 'gateway') return env;
    throw error;
  }
};

const startService = async (
  world: World,
  name: ServiceName,
  { config, live, installation, ports, log, recent, token, env, tokens }: Resources,
  options: ServiceOptions,
): Promise<Service> => {
  const { version } = world;
  if (name !== 'gateway') return startWorker(name, { config: live, ports, log, env, tokens, version });
  const skills = await openSkills(world, config, log);
  const embeddings = new ProviderEmbeddings(() => live.current(), env, systemClock);
  const insight = { configSource: { ...sourceOf(world, options), env }, recentLog: recent };
  const gateway = await startGateway({ config: live, ports, log, token, version: world.version, skills, embeddings, insight });
  installation.prepare();
  if (!isAlive(installation.gateway()?.pid)) installation.writeGateway({ url: gateway.url, token, pid: process.pid });
  return gateway;
};

/** Alive is not started, and started is not ready: what this process depends on counts too, and one that stops takes no more work. */
const problemsOf = (
  name: ServiceName,
  [service]: readonly Service[],
  ports: OpenPorts,
  stopping: AbortSignal,
): readonly HealthProblem[] => {
  if (stopping.aborted) return [new HealthProblem('stopping', `the ${name} service is stopping`)];
  const own = service?.problems() ?? [new HealthProblem('starting', `the ${name} service is starting`)];
  return readinessOf([...ports.problems(), ...own]).details;
};

/** Logs the service's problems and reports its health until the signal aborts. */
const watch = (world: World, service: Service, { ports, log, live }: Resources, signal: AbortSignal): Promise<void> => {
  const clock = systemClock;
  void watchProblems([service], { clock, log, signal });
  const own = service.member ?? uniqueMember(service.name);
  const report = { process: own, version: world.version, presence: ports.presence, config: live };
  return reportHealth(() => [service], { ...report, clock, log, signal });
};

/** Waits until the service is ready, then tells the parent process. */
const announceReady = async (service: Service, { log }: Resources, signal: AbortSignal): Promise<void> => {
  await untilReady([service], { clock: systemClock, patienceMs: Number.POSITIVE_INFINITY, signal });
  if (signal.aborted) return;
  log.info({ service: service.name }, 'ready');
  process.send?.('ready');
};

/** Serves health and metrics if `--metrics-port` is given. A gateway has them itself, and hosts of `natter up` are on its gateway's page. */
const openPage = async (
  { metricsPort }: ServiceOptions,
  { gateway }: Config,
  page: Omit<HealthServerOptions, 'gateway' | 'port'>,
): Promise<() => Promise<void>> => {
  if (metricsPort === undefined) return async () => {};
  refusePublicBind(gateway);
  return serveHealth({ gateway, port: metricsPort, ...page });
};
