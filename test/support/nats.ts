import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { obtainServer } from '../../services/cli/broker/install.ts';
import { type ServerProcess, startServerProcess } from '../../services/cli/broker/process.ts';
import type { ServerBinary } from '../../services/cli/broker/resolve.ts';

/** A real nats-server on loopback with a store of its own. It ends with the test process, whatever happens to that. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly storeDir: string;
  pid(): number;
  /** The last lines of its log. */
  log(): readonly string[];
  /** Kills it with SIGKILL and waits until it is gone. */
  kill9(): Promise<void>;
  /** SIGSTOP: connected clients see silence. Resolves once no thread of it runs any more. */
  pause(): Promise<void>;
  resume(): void;
  /** Starts it again on the same port; stops it first if it runs. `empty`: without its data. `meanwhile`: what happens to its files. */
  restart(options?: { empty?: boolean; meanwhile?: (folder: string) => Promise<void> }): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

/** Three servers, one JetStream cluster: streams with 3 replicas work. */
export interface TestCluster {
  /** All three, comma-separated. */
  readonly url: string;
  readonly nodes: readonly TestServer[];
  /** The node that leads a stream, or a consumer of it. Waits until there is one. */
  leaderOf(stream: string, consumer?: string): Promise<TestServer>;
  stop(): Promise<void>;
}

/** Finds a nats-server as the product does, and installs one as the product does when there is none. */
export const testBinary = (): Promise<ServerBinary> => obtainServer(process.env, () => {});

interface NodeOptions {
  readonly syncInterval: string;
  readonly storeDir?: string;
  readonly port: number;
  readonly arguments?: readonly string[];
}

const startNode = async (binary: string, options: NodeOptions): Promise<TestServer> => {
  const folder = options.storeDir ?? (await mkdtemp(join(tmpdir(), 'natter-nats-')));
  const lines: string[] = [];
  const log = (line: string): void => {
    lines.push(line);
    if (lines.length > 500) lines.shift();
  };
  const start = (port: number): Promise<ServerProcess> =>
    startServerProcess({
      binary,
      folder,
      port,
      token: '',
      log,
      syncInterval: options.syncInterval,
      arguments: options.arguments ?? [],
    });
  let running = await start(options.port);
  const { port } = running;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    running.signal('SIGCONT');
    running.signal(signal);
    await running.exited;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    storeDir: folder,
    pid: () => running.pid,
    log: () => lines,
    kill9: () => end('SIGKILL'),
    pause: () => {
      running.signal('SIGSTOP');
      return stopped(running.pid);
    },
    resume: () => running.signal('SIGCONT'),
    restart: async ({ empty = false, meanwhile } = {}) => {
      await end('SIGTERM');
      await meanwhile?.(folder);
      if (empty) await rm(join(folder, 'store'), { recursive: true, force: true });
      running = await start(port);
    },
    stop: async () => {
      await end('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** A signal is only asked for: a thread on another core goes on until it hears of it. */
const stopped = async (pid: number): Promise<void> => {
  const runs = (thread: string): boolean => !/^\d+ \(.*\) [tT] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
  while (readdirSync(`/proc/${pid}/task`).some(runs)) await delay(1);
};

/** Starts one server (R1) in about 20 ms. `syncInterval` is `2m` unless said: a killed process loses nothing by that, a power cut would. */
export const startServer = async (
  options: { syncInterval?: string; storeDir?: string; port?: number; arguments?: readonly string[] } = {},
): Promise<TestServer> => startNode((await testBinary()).path, { syncInterval: '2m', port: 0, ...options });

/** Starts a cluster of three (R3). Ready when it has elected a leader and answers JetStream requests: 3 to 5 s. */
export const startCluster = async (
  options: { syncInterval?: string; folders?: readonly string[] } = {},
): Promise<TestCluster> => {
  const binary = (await testBinary()).path;
  const routePorts = await freePorts(3);
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`).join(',');
  const nodes = await Promise.all(
    routePorts.map((port, index) =>
      startNode(binary, {
        syncInterval: options.syncInterval ?? '2m',
        ...(options.folders?.[index] !== undefined && { storeDir: options.folders[index] }),
        port: 0,
        arguments: ['-n', `node-${index}`, '--cluster_name', 'test', '--cluster', `nats://127.0.0.1:${port}`, '--routes', routes],
      }),
    ),
  );
  const url = nodes.map((node) => node.url).join(',');
  await untilAnswering(url);
  return {
    url,
    nodes,
    leaderOf: async (stream, consumer) => {
      const name = await leaderName(url, stream, consumer);
      const node = nodes[Number(name.replace('node-', ''))];
      if (node === undefined) throw new Error(`no node is named ${name}`);
      return node;
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
};

/** Ports nobody listens on now. Routes must be known before the servers start. */
const freePorts = async (count: number): Promise<number[]> => {
  const holders = await Promise.all(
    [...Array(count)].map(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const holder = createServer().listen(0, '127.0.0.1', () => resolve(holder));
        }),
    ),
  );
  return Promise.all(
    holders.map(
      (holder) =>
        new Promise<number>((resolve) => {
          const address = holder.address();
          const port = typeof address === 'object' && address !== null ? address.port : 0;
          holder.close(() => resolve(port));
        }),
    ),
  );
};

const untilAnswering = async (url: string): Promise<void> => {
  const connection = await connect({ servers: url.split(','), maxReconnectAttempts: -1 });
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 500 });
    // A three-replica stream needs all three peers, and the leader learns of them one after another.
    await eventually(async () => {
      await manager.streams.add({ name: 'READY', subjects: ['natter-test-ready'], num_replicas: 3 });
      await manager.streams.delete('READY');
      return true;
    });
  } finally {
    await connection.close();
  }
};

const leaderName = async (url: string, stream: string, consumer?: string): Promise<string> => {
  const connection = await connect({ servers: url.split(','), maxReconnectAttempts: -1 });
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 500 });
    return await eventually(async () => {
      const info = consumer === undefined ? await manager.streams.info(stream) : await manager.consumers.info(stream, consumer);
      return info.cluster?.leader || null;
    });
  } finally {
    await connection.close();
  }
};

/** Asks until there is an answer; 30 s at most. */
const eventually = async <T>(ask: () => Promise<T | null>): Promise<T> => {
  const deadline = performance.now() + 30_000;
  let last: unknown = new Error('no answer in 30 s');
  while (performance.now() < deadline) {
    try {
      const answer = await ask();
      if (answer !== null) return answer;
    } catch (error) {
      last = error;
    }
    await delay(50);
  }
  throw last;
};
