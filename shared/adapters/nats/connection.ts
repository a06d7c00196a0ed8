import {
  type ConnectionOptions,
  type NatsConnection,
  NatsConnectionImpl,
  ProtocolHandler,
  parseSemVer,
  setTransportFactory,
} from '@nats-io/transport-node';
import { NodeTransport, nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js';
import { errorMessage } from '../../kit/errors.ts';
import { isNewEnough, minimumServerVersion } from './version.ts';

/** Where the broker is and how long a call may take. `servers` is a URL, or several separated by commas. */
export interface ConnectionSettings {
  readonly servers: string;
  readonly token?: string;
  /** Shown in the broker's connection list. */
  readonly name: string;
  readonly requestTimeoutMs: number;
}

/**
 * Opens a connection that outlives its broker. Resolves when it is connected, or after `requestTimeoutMs` when it is not: a service may
 * start before its broker. Until the broker is there calls fail as `unavailable`; the client goes on trying for ever, in the background,
 * and subscriptions made meanwhile begin to work when it gets through.
 *
 * The client's own `connect` gives its object out only after the first success and keeps its constructor private, so its two halves are
 * put together here, as it does it (3.4.0). `test/e2e/broker/connection.test.ts` would notice a change.
 */
export const openConnection = async (settings: ConnectionSettings): Promise<NatsConnection> => {
  setTransportFactory({ factory: () => new NodeTransport(), dnsResolveFn: nodeResolveHost });
  const connection: NatsConnectionImpl = Reflect.construct(NatsConnectionImpl, [clientOptions(settings)]);
  const protocol = new ProtocolHandler(connection.options, connection);
  connection.protocol = protocol;
  // The client asks this before it uses a feature, connected or not; the broker's own answer replaces it on connect.
  protocol.features.update(parseSemVer(minimumServerVersion));
  const connecting = protocol.dialLoop().catch(() => {}); // Rejects when we close it before it got through.
  await Promise.race([connecting, after(settings.requestTimeoutMs)]);
  return connection;
};

/** Three connections: what one sends in bulk must not delay another (a 200 kB snapshot costs a commit 3 ms). */
export interface Connections {
  /** The log: appends and leader reads. */
  readonly commits: NatsConnection;
  /** Snapshots, the index and other key-value data. */
  readonly caches: NatsConnection;
  /** Work queues, subscriptions and live text. */
  readonly consumers: NatsConnection;
  /** Why a connection is not usable; empty: all three are. */
  problems(): readonly string[];
  /** Sends what is buffered and closes. Never rejects. */
  close(): Promise<void>;
}

export const openConnections = async (settings: ConnectionSettings): Promise<Connections> => {
  const open = (purpose: string): Promise<NatsConnection> => openConnection({ ...settings, name: `${settings.name} ${purpose}` });
  const [commits, caches, consumers] = await Promise.all([open('commits'), open('caches'), open('consumers')]);
  const all = [commits, caches, consumers];
  return {
    commits,
    caches,
    consumers,
    problems: () => [...new Set(all.flatMap(connectionProblems))],
    close: async () => {
      await Promise.all(all.map(closeConnection));
    },
  };
};

/** Why there is no broker at the other end, of whatever kind; `null`: there is one. */
export const disconnection = (connection: NatsConnection): string | null => {
  if (connection.isClosed()) return 'the connection to the broker is closed';
  const protocol = connection instanceof NatsConnectionImpl ? connection.protocol : null;
  if (protocol === null || protocol.connected) return null;
  return `not connected to the broker${protocol.lastError ? `: ${errorMessage(protocol.lastError)}` : ''}`;
};

/** Why this connection is not usable now; empty: it is. */
export const connectionProblems = (connection: NatsConnection): readonly string[] => {
  const away = disconnection(connection);
  if (away !== null) return [away];
  if (!(connection instanceof NatsConnectionImpl)) return [];
  const { version = '' } = connection.info ?? {};
  if (!isNewEnough(version)) return [`the broker is nats-server ${version}; Natter needs ${minimumServerVersion} or newer`];
  return connection.info?.jetstream ? [] : ['the broker runs without JetStream'];
};

/** Never rejects. A drain waits for the broker; one that is away must not hold up a stop. */
export const closeConnection = async (connection: NatsConnection): Promise<void> => {
  if (connection.isClosed()) return;
  if (connectionProblems(connection).length === 0) await Promise.race([connection.drain().catch(() => {}), after(1_000)]);
  await connection.close().catch(() => {});
};

const clientOptions = ({ servers, token, name, requestTimeoutMs }: ConnectionSettings): ConnectionOptions => ({
  ...addressesAndCredentials(servers),
  ...(token === undefined ? {} : { token }),
  name,
  timeout: requestTimeoutMs,
  // A stack trace per request halves the rate of publishing (measured: 30,000 against 59,000 a second).
  noAsyncTraces: true,
  waitOnFirstConnect: true,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 250,
  reconnectJitter: 100,
  // A broker that is set up again with another token and back must not end us.
  ignoreAuthErrorAbort: true,
  pingInterval: 5_000,
  maxPingOut: 2,
});

/** A URL may carry `token@` or `user:password@`; the client wants them apart. */
const addressesAndCredentials = (servers: string): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token' | 'tls'> => {
  const urls = servers
    .split(',')
    .map((text) => new URL(/^[a-z]+:\/\//i.test(text.trim()) ? text.trim() : `nats://${text.trim()}`));
  const withUser = urls.find((url) => url.username !== '');
  const user = decodeURIComponent(withUser?.username ?? '');
  const password = decodeURIComponent(withUser?.password ?? '');
  return {
    servers: urls.map((url) => `${url.hostname}:${url.port || '4222'}`),
    ...(urls.some((url) => url.protocol === 'tls:') ? { tls: {} } : {}),
    ...(user === '' ? {} : password === '' ? { token: user } : { user, pass: password }),
  };
};

/** A timer that does not keep the process alive. */
const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
