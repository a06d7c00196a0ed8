import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import { provision } from '../../shared/adapters/nats/provision.ts';
import { configSchema } from '../../shared/domain/config/schema.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { bucketNames, streamNames, type Topology, topologyOf } from '../../shared/wire/topology.ts';
import { startCluster, startServer, type TestServer } from '../support/nats.ts';
import { type ServiceProcess, serviceProcess } from './host-process.ts';

/** The brokers that faults are tried on. Both sync each write: what they acknowledged must be there whatever is killed. */
export const setups = {
  r1: { title: 'one server', replicas: 1, memoryConsumers: false },
  /** As `natter up` has its own broker (ADR 5). */
  up: { title: 'one server, consumers in memory, provisioned again whenever it starts', replicas: 1, memoryConsumers: true },
  r3: { title: 'cluster of three', replicas: 3, memoryConsumers: true },
} as const;
export type Setup = keyof typeof setups;

/** A whole system of real processes, with a driver's own ports on its broker. */
export interface ChaosSystem {
  readonly setup: Setup;
  readonly ports: Ports;
  readonly nodes: readonly TestServer[];
  /** Session hosts. */
  readonly hosts: readonly ServiceProcess[];
  readonly checkpoint: ServiceProcess;
  readonly streams: ReturnType<typeof streamNames> & { readonly hosts: string };
  /** The node that leads a stream, or one of its consumers. A server alone leads everything. */
  leaderOf(stream: string, consumer?: string): Promise<TestServer>;
  /** Waits until every replica of every stream has all there is: only then may the next node fail. */
  untilCaughtUp(): Promise<void>;
  /** Call after a server was started again: what `natter up` then does for its own. */
  provisionAgain(): Promise<void>;
  close(): Promise<void>;
}

export interface SystemOptions {
  readonly setup: Setup;
  readonly hosts: number;
  /** Messages a partition may have out at a time; 1 in the product. */
  readonly maxAckPending: number;
}

const caughtUpMs = 60_000;
const lookMs = 100;

export const startSystem = async ({ setup, hosts, maxAckPending }: SystemOptions): Promise<ChaosSystem> => {
  const { replicas, memoryConsumers } = setups[setup];
  const cluster = replicas === 3 ? await startCluster({ syncInterval: 'always' }) : null;
  const server = cluster === null ? await startServer({ syncInterval: 'always' }) : null;
  const broker = cluster ?? server;
  if (broker === null) throw new Error('there is no broker');
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-chaos-'));
  const config = configSchema.parse({ dataDir, nats: { url: broker.url, replicas } });
  const wanted = topologyOf(subjectsUnder(config.prefix), { replicas, memoryConsumers, partitions: config.nats.partitions });
  const topology: Topology = { ...wanted, consumers: wanted.consumers.map((spec) => ({ ...spec, maxAckPending })) };
  const connection = await openConnection({ servers: broker.url, name: 'chaos', requestTimeoutMs: 5_000 });
  await provision(connection, topology);
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 2_000 });
  const ports = await openNats(config, { name: 'chaos driver', clock: systemClock, ...broker.as('tester') });

  // Services that expect another number of replicas than the streams have are not ready.
  await writeFile(join(dataDir, 'natter.json'), JSON.stringify({ nats: { replicas } }));
  const environment = { NATS_URL: broker.url, NATS_USERS_DIR: broker.usersDir, NATTER_DATA_DIR: dataDir };
  const processes = Array.from({ length: hosts }, () => serviceProcess('session', environment));
  const checkpoint = serviceProcess('checkpoint', environment);
  const nodes = cluster?.nodes ?? (server === null ? [] : [server]);

  const close = async (): Promise<void> => {
    await Promise.all([...processes, checkpoint].map((one) => one.kill9()));
    await ports.close();
    await connection.close();
    await broker.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await Promise.all([...processes, checkpoint].map((one) => one.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    setup,
    ports,
    nodes,
    hosts: processes,
    checkpoint,
    streams: { ...streamNames(config.prefix), hosts: `KV_${bucketNames(config.prefix).hosts}` },
    leaderOf: (stream, consumer) =>
      cluster === null ? Promise.resolve(server as TestServer) : cluster.leaderOf(stream, consumer),
    untilCaughtUp: () => untilCaughtUp(manager, topology),
    provisionAgain: async () => {
      if (setup === 'up') await provision(connection, topology);
    },
    close,
  };
};

const untilCaughtUp = async (manager: JetStreamManager, topology: Topology): Promise<void> => {
  const giveUpAt = performance.now() + caughtUpMs;
  let behind = 'all streams';
  while (performance.now() < giveUpAt) {
    try {
      const late = await Promise.all(topology.streams.map(async ({ name }) => ((await isWhole(manager, name)) ? [] : [name])));
      behind = late.flat().join(', ');
      if (behind === '') return;
    } catch {
      // No leader or no answer yet.
    }
    await systemClock.sleep(lookMs);
  }
  throw new Error(`replicas of ${behind} did not catch up in ${caughtUpMs / 1_000} s`);
};

const isWhole = async (manager: JetStreamManager, stream: string): Promise<boolean> => {
  const { cluster } = await manager.streams.info(stream);
  if (cluster === undefined || cluster.leader === undefined) return cluster === undefined || cluster.name === undefined;
  return (cluster.replicas ?? []).every(({ current, offline }) => current && !offline);
};
