import { ProviderEmbeddings } from '../../../shared/adapters/model/embeddings.ts';
import { offlineIntroduction } from '../../../shared/adapters/model/offline.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { LogTail } from '../../../shared/adapters/streams/log-tail.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import type { Current } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import type { SkillLibrary } from '../../../shared/runtime/skills/library.ts';
import { type ServiceName, workerNames } from '../../../shared/runtime/worker-names.ts';
import { terminalOutlet } from '../../delivery/outlets/terminal.ts';
import { type Gateway, type Insight, refuseTakenPort, startGateway } from '../../gateway/main.ts';
import { callerOf } from '../init/caller.ts';
import type { Installation } from '../installation.ts';
import type { World } from '../terminal.ts';
import { type Broker, provisionBroker, secretsOfBroker, startBroker, topologyFor } from './broker.ts';
import { startWorker, uniqueMember } from './compose.ts';
import { reportHealth } from './health/report.ts';
import { type Supervision, superviseStore } from './health/supervise.ts';
import { type Hosts, startHosts } from './hosts.ts';
import { openSkills } from './skills.ts';
import { snapshotKeyFor } from './snapshot-key.ts';

export interface SystemOptions {
  readonly world: World;
  /** The environment with the keys of the providers. Default: that of `world`, which has those that variables hold. */
  readonly keys?: World['env'];
  readonly config: Current<Config>;
  readonly installation: Installation;
  readonly token: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Number of session hosts. From 2 on they are child processes; a single one runs in this process. */
  readonly hosts: number;
  /** Arguments that give a child process the same configuration. */
  readonly childArguments: readonly string[];
  readonly logFile: number;
  /** What the gateway may show of this process. */
  readonly insight?: Insight;
}

/** Everything that runs, in the order it was started. */
export interface System {
  readonly broker: Broker;
  readonly gateway: Gateway;
  readonly hosts: Hosts | null;
  /** All parts, to watch their problems. */
  services(): readonly Service[];
  stop(): Promise<void>;
}

/** A stop takes at most 10 s in all: first the gateway, then the workers, then their connections and the broker. */
const deadlines = { gatewayMs: 2_000, workersMs: 4_000 };

/** The parts started so far; `stop` stops these. */
interface Running {
  /** All services here read the log together. */
  readonly tail: LogTail;
  broker?: Broker;
  supervision?: Supervision;
  gateway?: Gateway;
  skills?: SkillLibrary;
  reporting?: Promise<void>;
  readonly ports: Ports[];
  readonly workers: Service[];
}

/** Starts the broker, the streams and all services in this process. If a part cannot start, the parts before it are stopped again. */
export const startSystem = async (options: SystemOptions): Promise<System> => {
  const running: Running = { tail: new LogTail(), ports: [], workers: [] };
  const stopping = new AbortController();
  const stop = (): Promise<void> => {
    stopping.abort();
    return stopAll(running, options);
  };
  try {
    const broker = await startProvisionedBroker(options, running);
    running.supervision = await supervise(options, broker);
    const hosts = await startWorkers(options, running, broker);
    const { gateway, ports } = await startOwnGateway(options, running, broker);
    const services = (): Service[] => [...running.workers, gateway];
    const { world, clock, log, config } = options;
    const report = { process: uniqueMember('up'), version: world.version, presence: ports.presence, config };
    running.reporting = reportHealth(services, { ...report, clock, log, signal: stopping.signal });
    return { broker, gateway, hosts, services, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const startProvisionedBroker = async ({ world, config, installation, log }: SystemOptions, running: Running): Promise<Broker> => {
  const broker = await startBroker(world, config.current(), installation, log);
  running.broker = broker;
  await refuseTakenPort(config.current().gateway);
  const created = await provisionBroker(config.current(), broker.as('provisioner'));
  if (created.length > 0) log.info({ created: created.length }, 'streams and consumers created');
  return broker;
};

const supervise = ({ config, clock, log }: SystemOptions, broker: Broker): Promise<Supervision> => {
  const current = config.current();
  return superviseStore({
    config: current,
    broker: broker.as('provisioner'),
    topology: topologyFor(current),
    supervised: () => broker.problems(),
    clock,
    log,
  });
};

/** Each service has connections of its own, named after it, and is a user of its own on the broker. */
const openPorts = async (
  { world, config, installation, clock, log }: SystemOptions,
  running: Running,
  broker: Broker,
  name: ServiceName,
): Promise<Ports> => {
  const { store } = running.supervision ?? {};
  const key = snapshotKeyFor(config.current(), installation);
  const discovered = { service: name, id: uniqueMember(name), version: world.version };
  const named = { name: `natter ${name}`, discovered, clock, log, ...broker.as(name) };
  const ports = await openNats(config.current(), { ...named, ...key, tail: running.tail, ...(store && { store }) });
  running.ports.push(ports);
  return ports;
};

/** Starts the workers; resolves with the session hosts if they are child processes. */
const startWorkers = async (options: SystemOptions, running: Running, broker: Broker): Promise<Hosts | null> => {
  const { world, keys: env = world.env, config, log } = options;
  const tokens = [options.token, ...workerNames.flatMap((name) => secretsOfBroker(broker.as(name)))];
  const hosts = options.hosts < 2 ? null : startHostProcesses(options);
  if (hosts) running.workers.push(hosts);
  for (const name of workerNames) {
    if (name === 'session' && hosts) continue;
    const ports = await openPorts(options, running, broker, name);
    const outlets = [terminalOutlet(world.output)];
    const { version, terminal } = world;
    // Others, such as programs and tests, rely on an answer that is the same each time.
    const introduction = terminal.interactive ? { introduction: offlineIntroduction(callerOf(world.env)) } : {};
    const worker = await startWorker(name, { config, ports, log, env, tokens, version, outlets, ...introduction });
    // Each service is another user of the broker, so its own connections tell which right is missing, and it alone looks at its own streams.
    // Other trouble shows on the gateway's.
    const own = () => ports.problems().filter(({ code }) => code === 'permission_denied' || code === 'queue_went_back');
    running.workers.push({ ...worker, problems: () => [...worker.problems(), ...own()] });
  }
  return hosts;
};

const startHostProcesses = ({ world, hosts, childArguments, logFile, clock, log }: SystemOptions): Hosts =>
  startHosts({
    count: hosts,
    program: world.program,
    programArguments: ['service', 'session', ...childArguments],
    env: world.env,
    logFile,
    clock,
    log,
  });

const startOwnGateway = async (
  options: SystemOptions,
  running: Running,
  broker: Broker,
): Promise<{ gateway: Gateway; ports: Ports }> => {
  const { world, config, token, insight } = options;
  const ports = await openPorts(options, running, broker, 'gateway');
  const log = options.log.child({ service: 'gateway' });
  const skills = await openSkills(world, config.current(), log);
  running.skills = skills;
  const services = (): Service[] => [...running.workers];
  const embeddings = new ProviderEmbeddings(() => config.current(), options.keys ?? world.env, options.clock);
  const gateway = await startGateway({
    config,
    ports,
    log,
    token,
    version: world.version,
    skills,
    embeddings,
    services,
    ...(insight && { insight }),
  });
  running.gateway = gateway;
  return { gateway, ports };
};

const stopAll = async (running: Running, { clock, log }: SystemOptions): Promise<void> => {
  const timed = async (what: string, work: Promise<unknown> | undefined): Promise<void> => {
    const startedAt = clock.monotonic();
    await work;
    log.debug({ what, ms: Math.round(clock.monotonic() - startedAt) }, 'stopped');
  };
  await timed('gateway', running.gateway?.stop(deadlines.gatewayMs));
  await running.skills?.close();
  await Promise.all(running.workers.map((worker) => timed(worker.name, worker.stop(deadlines.workersMs))));
  await timed('presence', running.reporting);
  await timed('connections', Promise.all([...running.ports.map((ports) => ports.close()), running.supervision?.stop()]));
  await timed('broker', running.broker?.stop());
};
