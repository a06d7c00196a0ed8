import { openNats } from '../../../shared/adapters/nats/open.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import type { Current } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import type { SkillLibrary } from '../../../shared/runtime/skills/library.ts';
import { terminalOutlet } from '../../delivery/outlets/terminal.ts';
import { type Gateway, startGateway } from '../../gateway/main.ts';
import type { Installation } from '../installation.ts';
import type { World } from '../terminal.ts';
import { type WorkerName, workerNames } from '../worker-names.ts';
import { type Broker, provisionBroker, startBroker } from './broker.ts';
import { startWorker, uniqueMember } from './compose.ts';
import { tellHealth } from './health.ts';
import { type Hosts, startHosts } from './hosts.ts';
import { openSkills } from './skills.ts';

export interface SystemOptions {
  readonly world: World;
  readonly config: Current<Config>;
  readonly installation: Installation;
  readonly token: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Session hosts as processes of their own; below 2 the one host is in this process. */
  readonly hosts: number;
  /** What a child of this program needs to find the same configuration. */
  readonly childArguments: readonly string[];
  readonly logFile: number;
}

/** Everything that runs, in the order it was started. */
export interface System {
  readonly broker: Broker;
  readonly gateway: Gateway;
  readonly hosts: Hosts | null;
  /** All parts, for the watch over their problems. */
  services(): readonly Service[];
  stop(): Promise<void>;
}

/** A stop takes at most 10 s in all: the door first, then those who work, then what they work on. */
const deadlines = { gatewayMs: 2_000, workersMs: 4_000 };

/** Starts the broker, the streams and all services in this process. What was started is stopped again when a later part cannot start. */
export const startSystem = async (options: SystemOptions): Promise<System> => {
  const { world, installation, log, clock, token } = options;
  const config = options.config.current();
  const running: { broker?: Broker; gateway?: Gateway; skills?: SkillLibrary; ports: Ports[]; workers: Service[] } = {
    ports: [],
    workers: [],
  };
  const stopping = new AbortController();
  let telling: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopping.abort();
    const timed = async (what: string, work: Promise<unknown> | undefined): Promise<void> => {
      const began = clock.monotonic();
      await work;
      log.debug({ what, ms: Math.round(clock.monotonic() - began) }, 'stopped');
    };
    await timed('gateway', running.gateway?.stop(deadlines.gatewayMs));
    await running.skills?.close();
    await Promise.all(running.workers.map((worker) => timed(worker.name, worker.stop(deadlines.workersMs))));
    await timed('presence', telling);
    await timed('connections', Promise.all(running.ports.map((ports) => ports.close())));
    await timed('broker', running.broker?.stop());
  };

  try {
    const broker = await startBroker(world, config, installation, log);
    running.broker = broker;
    const created = await provisionBroker(config, broker);
    if (created.length > 0) log.info({ created: created.length }, 'streams and consumers created');

    const open = async (name: string): Promise<Ports> => {
      const { servers, token: brokerToken } = broker;
      const address = { servers, ...(brokerToken !== undefined && { token: brokerToken }) };
      const ports = await openNats(config, { name: `natter ${name}`, clock, log, ...address });
      running.ports.push(ports);
      return ports;
    };
    const startOne = async (name: WorkerName): Promise<void> => {
      const outlets = [terminalOutlet(world.output)];
      running.workers.push(
        await startWorker(name, {
          config: options.config,
          ports: await open(name),
          log,
          env: world.env,
          version: world.version,
          outlets,
        }),
      );
    };

    const hosts = options.hosts < 2 ? null : startHostProcesses(options);
    if (hosts) running.workers.push(hosts);
    for (const name of workerNames) if (name !== 'session' || hosts === null) await startOne(name);
    const services = (): Service[] => [...running.workers];
    const ports = await open('gateway');
    const gatewayLog = log.child({ service: 'gateway' });
    running.skills = await openSkills(world, config, gatewayLog);
    const gateway = await startGateway({
      config: options.config,
      ports,
      log: gatewayLog,
      token,
      version: world.version,
      skills: running.skills,
      services,
    });
    running.gateway = gateway;
    const all = (): Service[] => [...running.workers, gateway];
    const told = { process: uniqueMember('up'), version: world.version, presence: ports.presence };
    telling = tellHealth(all, { ...told, clock, log, signal: stopping.signal });
    return { broker, gateway, hosts, services: all, stop };
  } catch (error) {
    await stop();
    throw error;
  }
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
