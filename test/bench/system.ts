import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installationIn } from '../../services/cli/installation.ts';
import { topologyFor } from '../../services/cli/runtime/broker.ts';
import { snapshotKeyFor } from '../../services/cli/runtime/snapshot-key.ts';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import { type Config, configSchema } from '../../shared/domain/config/schema.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { startCluster, startServer } from '../support/nats.ts';

/** The three brokers the figures are taken on. */
export const setups = {
  always: { title: 'one server, sync always', replicas: 1, syncInterval: 'always' },
  default: { title: 'one server, default sync (2 min)', replicas: 1, syncInterval: '2m' },
  cluster: { title: 'three servers, sync always', replicas: 3, syncInterval: 'always' },
} as const;
export type SetupName = keyof typeof setups;

/** A process of the product under measurement. */
export interface Worker {
  readonly pid: number;
  kill9(): Promise<void>;
  /** SIGTERM, and how many ms it took to end. */
  stop(): Promise<number>;
}

export interface BenchSystem {
  readonly config: Config;
  readonly servers: string;
  /** Processes of the broker. */
  readonly brokerPids: readonly number[];
  /** The driver's own ports. */
  readonly ports: Ports;
  /** Starts `natter service NAME` in a process of its own and waits until it is ready. */
  start(name: 'session' | 'checkpoint' | 'delivery' | 'router' | 'gateway'): Promise<Worker>;
  close(): Promise<void>;
}

const natter = fileURLToPath(new URL('../../services/cli/main.js', import.meta.url));

/**
 * Starts a real broker, provisions it and opens ports for the driver. Services are started as the scenario wants them, with `settings` as
 * their configuration.
 */
export const startSystem = async (name: SetupName, settings: object = {}, logLevel = 'warn'): Promise<BenchSystem> => {
  const { replicas, syncInterval } = setups[name];
  const broker = replicas === 3 ? await startCluster({ syncInterval }) : await startServer({ syncInterval });
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-bench-'));
  const config = configSchema.parse({ ...settings, dataDir, nats: { url: broker.url, replicas } });
  const configFile = join(dataDir, 'bench.json');
  await writeFile(configFile, JSON.stringify(settings));
  const connection = await openConnection({ servers: broker.url, name: 'bench', requestTimeoutMs: 10_000 });
  await provision(connection, topologyFor({ ...config, nats: { ...config.nats, url: undefined } }));
  await connection.close();
  // Its snapshots are believed like a host's.
  const key = snapshotKeyFor(config, installationIn(dataDir));
  const ports = await openNats(config, { name: 'bench driver', clock: systemClock, ...key, ...broker.as('tester') });
  const workers: ChildProcess[] = [];

  const start: BenchSystem['start'] = async (service) => {
    const env = {
      ...process.env,
      NATS_URL: broker.url,
      NATS_USERS_DIR: broker.usersDir,
      NATTER_DATA_DIR: dataDir,
      NATTER_LOG_LEVEL: logLevel,
      NATTER_CONFIG: configFile,
    };
    const child = fork(natter, ['service', service], {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    workers.push(child);
    const failed = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`natter service ${service} ended with ${code}`)),
    );
    failed.catch(() => {});
    await Promise.race([once(child, 'message'), failed]);
    return { pid: child.pid ?? 0, kill9: async () => void (await end(child, 'SIGKILL')), stop: () => end(child, 'SIGTERM') };
  };

  return {
    config,
    servers: broker.url,
    brokerPids: 'nodes' in broker ? broker.nodes.map((node) => node.pid()) : [broker.pid()],
    ports,
    start,
    close: async () => {
      // Not killed: one that is profiled writes what it found at its end.
      await Promise.all(workers.map((child) => end(child, 'SIGTERM')));
      await ports.close();
      await broker.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<number> => {
  const began = performance.now();
  const gone = once(child, 'exit');
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await gone;
  return performance.now() - began;
};

/** Processor time a process has used so far, ms. */
export const processorMs = async (pid: number): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
