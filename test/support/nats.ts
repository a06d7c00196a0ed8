import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { obtainServer } from '../../services/cli/broker/install.ts';
import { type ServerProcess, serverConfigFile, startServerProcess } from '../../services/cli/broker/process.ts';
import type { ServerBinary } from '../../services/cli/broker/resolve.ts';
import {
  accountConfig,
  credentialsOf,
  makeUsers,
  type ServerUser,
  serverUsers,
  type UserSeed,
  usersIn,
} from '../../services/cli/broker/users.ts';
import type { ConnectionSettings } from '../../shared/adapters/nats/client/connection.ts';
import { type BrokerUser, inboxPrefixOf } from '../../shared/wire/grants.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';

/** A real nats-server on loopback with a store of its own. It ends with the test process, whatever happens to that. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly storeDir: string;
  /** The folder with the seeds of its users: `NATS_USERS_DIR` of a process that uses it. */
  readonly usersDir: string;
  /** The address for a service. The tester is the test itself: it may do everything, and answers come to it as to an operator. */
  as(user: BrokerUser | 'tester'): ServerAddress;
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
  /** Ends it and removes its files. Fails when a user tried what it has no right to. */
  stop(): Promise<void>;
}
export type ServerAddress = Pick<ConnectionSettings, 'servers' | 'nkeySeed' | 'inboxPrefix'>;

/** Three servers, one JetStream cluster: streams with 3 replicas work. */
export interface TestCluster {
  /** All three, comma-separated. */
  readonly url: string;
  readonly usersDir: string;
  /** As of one server, with the addresses of all three. */
  as(user: BrokerUser | 'tester'): ServerAddress;
  readonly nodes: readonly TestServer[];
  /** The node that leads a stream, or a consumer of it. Waits until there is one. */
  leaderOf(stream: string, consumer?: string): Promise<TestServer>;
  stop(): Promise<void>;
}

/** Finds a nats-server as the product does, and installs one as the product does when there is none. */
export const testBinary = (): Promise<ServerBinary> => obtainServer(process.env, { note: () => {}, progress: () => {} });

export interface ServerOptions {
  readonly syncInterval?: string;
  readonly storeDir?: string;
  readonly port?: number;
  /** The prefixes of the systems on it. Default: `natter`. */
  readonly prefixes?: readonly string[];
  /** True: a test tries what is forbidden. */
  readonly hostile?: boolean;
  readonly arguments?: readonly string[];
  /** More lines of its configuration. */
  readonly configuration?: string;
  /** A right that a user has too much. */
  readonly excess?: { readonly user: BrokerUser; readonly publish: string };
}
interface NodeOptions extends Omit<ServerOptions, 'port' | 'syncInterval'> {
  readonly syncInterval: string;
  readonly port: number;
  /** Default: one of its own. The servers of a cluster share one. */
  readonly usersDir?: string;
}

/** Whoever connects without credentials: the test itself, with all rights. */
const tester = 'tester';

/** The product's configuration, with a user for the test. In a folder of the test's own it is on the disk, as that may lose its power. */
const testConfiguration = async (
  folder: string,
  users: readonly ServerUser[],
  { configuration = '', storeDir }: NodeOptions,
): Promise<string> => {
  const file = join(folder, 'nats.conf');
  const text = await readFile(serverConfigFile(), 'utf8');
  await writeFile(file, `${text}\n${accountConfig(users)}\nno_auth_user: ${tester}\n${configuration}\n`, {
    flush: storeDir !== undefined,
  });
  return file;
};

/** Rights of a user are for one prefix; a server with several systems on it has its users' rights under each. */
const usersUnder = (seeds: readonly UserSeed[], prefixes: readonly string[]): ServerUser[] => {
  const [first = [], ...others] = prefixes.map((prefix) => serverUsers(seeds, subjectsUnder(prefix)));
  return first.map((user, index) => {
    const all = [user, ...others.map((users) => users[index])].map((each) => each?.permissions);
    const allowed = (operation: 'publish' | 'subscribe') => ({ allow: all.flatMap((each) => each?.[operation].allow ?? []) });
    const deny = all.flatMap((each) => each?.subscribe.deny ?? []);
    return { ...user, permissions: { publish: allowed('publish'), subscribe: { ...allowed('subscribe'), deny } } };
  });
};

const withExcess = (user: ServerUser, seed: UserSeed | undefined, excess: ServerOptions['excess']): ServerUser => {
  const { permissions } = user;
  if (excess === undefined || permissions === undefined || seed?.user !== excess.user) return user;
  return { ...user, permissions: { ...permissions, publish: { allow: [...permissions.publish.allow, excess.publish] } } };
};

const startNode = async (binary: string, options: NodeOptions): Promise<TestServer> => {
  const folder = options.storeDir ?? (await mkdtemp(join(tmpdir(), 'natter-nats-')));
  await mkdir(folder, { recursive: true });
  const usersDir = options.usersDir ?? join(folder, 'users');
  makeUsers(usersDir);
  const seeds = usersIn(usersDir);
  const rightful = usersUnder(seeds, options.prefixes ?? ['natter']);
  const users = [
    ...rightful.map((user, index) => withExcess(user, seeds[index], options.excess)),
    { name: tester, user: tester, password: tester },
  ];
  const configFile = await testConfiguration(folder, users, options);
  const lines: string[] = [];
  const violations: string[] = [];
  const log = (line: string): void => {
    lines.push(line);
    if (lines.length > 500) lines.shift();
    if (/ Violation - /.test(line)) violations.push(named(line, seeds));
  };
  const start = (port: number): Promise<ServerProcess> =>
    startServerProcess({
      binary,
      folder,
      port,
      configFile,
      log,
      syncInterval: options.syncInterval,
      arguments: options.arguments ?? [],
    });
  const [free = 0] = options.port === 0 ? await freePorts(1) : [options.port];
  let running = await start(free);
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
    usersDir,
    as: (user) => addressOf(`nats://127.0.0.1:${port}`, usersDir, user),
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
      // The root of a mounted disk stays.
      await rm(folder, { recursive: true, force: true }).catch((error) => error.code === 'EBUSY' || Promise.reject(error));
      if (options.hostile !== true && violations.length > 0)
        throw new Error(`users of the broker tried what they have no right to:\n${[...new Set(violations)].join('\n')}`);
    },
  };
};

const addressOf = (servers: string, usersDir: string, user: BrokerUser | 'tester'): ServerAddress => ({
  servers,
  ...(user === 'tester' ? { inboxPrefix: inboxPrefixOf('operator') } : credentialsOf(usersDir, user)),
});

/** Prefixes of systems: a name with the numbers from 0 on. */
export const numbered = (name: string, count: number): string[] => [...Array(count).keys()].map((number) => `${name}${number}`);

/** A refusal in the server's log, with the name of the user. */
const named = (line: string, seeds: readonly UserSeed[]): string => {
  const text = line.replace(/^.*? - cid:\d+[^-]* - /, '');
  return seeds.reduce((found, { name, publicKey }) => found.replace(publicKey, name), text);
};

/** A signal is only asked for: a thread on another core goes on until it hears of it. */
const stopped = async (pid: number): Promise<void> => {
  const runs = (thread: string): boolean => !/^\d+ \(.*\) [tT] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
  while (readdirSync(`/proc/${pid}/task`).some(runs)) await delay(1);
};

/** Starts one server (R1) in about 20 ms. `syncInterval` is `2m` unless said: a killed process loses nothing by that, a power cut would. */
export const startServer = async (options: ServerOptions = {}): Promise<TestServer> =>
  startNode((await testBinary()).path, { syncInterval: '2m', port: 0, ...options });

/** Starts a cluster of three (R3). Ready when it has elected a leader and answers JetStream requests: 3 to 5 s. */
export const startCluster = async (
  options: { syncInterval?: string; folders?: readonly string[] } = {},
): Promise<TestCluster> => {
  const binary = (await testBinary()).path;
  const routePorts = await freePorts(3);
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`).join(',');
  const usersDir = await mkdtemp(join(tmpdir(), 'natter-users-'));
  const nodes = await Promise.all(
    routePorts.map((port, index) =>
      startNode(binary, {
        syncInterval: options.syncInterval ?? '2m',
        ...(options.folders?.[index] !== undefined && { storeDir: options.folders[index] }),
        port: 0,
        usersDir,
        arguments: ['-n', `node-${index}`, '--cluster_name', 'test', '--cluster', `nats://127.0.0.1:${port}`, '--routes', routes],
      }),
    ),
  );
  const url = nodes.map((node) => node.url).join(',');
  await untilAnswering(url);
  return {
    url,
    usersDir,
    as: (user) => addressOf(url, usersDir, user),
    nodes,
    leaderOf: async (stream, consumer) => {
      const name = await leaderName(url, stream, consumer);
      const node = nodes[Number(name.replace('node-', ''))];
      if (node === undefined) throw new Error(`no node is named ${name}`);
      return node;
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await rm(usersDir, { recursive: true, force: true });
    },
  };
};

/**
 * Ports nobody listens on now. Routes must be known before the servers start. From below those that Linux gives to outgoing
 * connections: one of these would take the port before its server listens.
 */
const freePorts = async (count: number): Promise<number[]> => {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(20_000, 32_000);
    if (await nobodyListensOn(port)) ports.add(port);
  }
  return [...ports];
};
const nobodyListensOn = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const holder = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => holder.close(() => resolve(true)));
  });

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
