import {
  type ConnectionOptions,
  createInbox,
  type NatsConnection,
  NatsConnectionImpl,
  nkeyAuthenticator,
  ProtocolHandler,
  parseSemVer,
  setTransportFactory,
} from '@nats-io/transport-node';
import { NodeTransport, nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js';
import { errorMessage } from '../../kit/errors.ts';
import { HealthProblem, readinessOf } from '../../kit/health-problem.ts';
import { isNewEnough, minimumServerVersion } from './version.ts';

/** The broker's address and the timeout of a call. `servers` is a URL, or several separated by commas. */
export interface ConnectionSettings {
  readonly servers: string;
  readonly token?: string;
  /** An nkey seed (`SU…`), with which the connection proves which user it is. */
  readonly nkeySeed?: string;
  /** How the subjects begin that answers come to. Default: `_INBOX`. */
  readonly inboxPrefix?: string;
  /** Shown in the broker's connection list. */
  readonly name: string;
  readonly requestTimeoutMs: number;
}

/**
 * Opens a connection that survives restarts of the broker. Resolves when it is connected, or after `requestTimeoutMs` if it is
 * not: a service may start before its broker. Until then calls fail as `unavailable`; the client keeps retrying in the
 * background, and subscriptions made meanwhile work once it is connected.
 *
 * The client's own `connect` returns its object only after the first success and keeps the constructor private, so its two halves
 * are combined here in the same way (3.4.0). `test/e2e/broker/connection.test.ts` would notice a change.
 */
export const openConnection = async (settings: ConnectionSettings): Promise<NatsConnection> => {
  setTransportFactory({ factory: () => new NodeTransport(), dnsResolveFn: nodeResolveHost });
  const connection: NatsConnectionImpl = Reflect.construct(NatsConnectionImpl, [clientOptions(settings)]);
  const protocol = new ProtocolHandler(connection.options, connection);
  connection.protocol = protocol;
  // The client checks this before it uses a feature, even unconnected; on connect the broker's version replaces it.
  protocol.features.update(parseSemVer(minimumServerVersion));
  const connecting = protocol.dialLoop().catch(() => {}); // Rejects when we close it before it is connected.
  await Promise.race([connecting, after(settings.requestTimeoutMs)]);
  return connection;
};

/** Three connections, so that bulk data on one does not delay another (a 200 kB snapshot delays a commit by 3 ms). */
export interface Connections {
  /** Appends to the log and leader reads. */
  readonly commits: NatsConnection;
  /** Snapshots, the index and other key-value data. */
  readonly caches: NatsConnection;
  /** Work queues, subscriptions and live text. */
  readonly consumers: NatsConnection;
  /** Why a connection is not usable; empty if all three are. */
  problems(): readonly HealthProblem[];
  /** Flushes and closes. Never rejects. */
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
    problems: () => readinessOf(all.flatMap(connectionProblems)).details,
    close: async () => {
      await Promise.all(all.map(closeConnection));
    },
  };
};

/** Why no broker is connected; `null` if one is. */
export const disconnection = (connection: NatsConnection): string | null => {
  if (connection.isClosed()) return 'the connection to the broker is closed';
  const protocol = connection instanceof NatsConnectionImpl ? connection.protocol : null;
  if (protocol === null || protocol.connected) return null;
  return `not connected to the broker${protocol.lastError ? `: ${errorMessage(protocol.lastError)}` : ''}`;
};

/** Why this connection is not usable now; empty if it is. */
export const connectionProblems = (connection: NatsConnection): readonly HealthProblem[] => {
  const away = disconnection(connection);
  if (away !== null) return [new HealthProblem('broker_away', away)];
  if (!(connection instanceof NatsConnectionImpl)) return [];
  const { version = '' } = connection.info ?? {};
  if (!isNewEnough(version)) {
    const fix = `use nats-server ${minimumServerVersion} or newer`;
    return [
      new HealthProblem(
        'broker_unusable',
        `the broker is nats-server ${version}; Natter needs ${minimumServerVersion} or newer`,
        fix,
      ),
    ];
  }
  if (connection.info?.jetstream) return [];
  const fix = 'start nats-server with -js, or enable JetStream for the account';
  return [new HealthProblem('broker_unusable', 'the broker runs without JetStream', fix)];
};

/** A new subject for answers to this connection, under its prefix. */
export const inboxOf = (connection: NatsConnection): string =>
  createInbox(connection instanceof NatsConnectionImpl ? connection.options.inboxPrefix : undefined);

/** Never rejects. A drain waits for the broker, so it is bounded: a broker that is away must not hold up a shutdown. */
export const closeConnection = async (connection: NatsConnection): Promise<void> => {
  if (connection.isClosed()) return;
  if (connectionProblems(connection).length === 0) await Promise.race([connection.drain().catch(() => {}), after(1_000)]);
  await connection.close().catch(() => {});
};

const clientOptions = ({
  servers,
  token,
  nkeySeed,
  inboxPrefix,
  name,
  requestTimeoutMs,
}: ConnectionSettings): ConnectionOptions => ({
  ...addressesAndCredentials(servers),
  ...(token === undefined ? {} : { token }),
  ...(nkeySeed === undefined ? {} : { authenticator: nkeyAuthenticator(Buffer.from(nkeySeed)) }),
  ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
  name,
  timeout: requestTimeoutMs,
  // A stack trace per request halves the publish rate (measured: 30,000 against 59,000 per second).
  noAsyncTraces: true,
  waitOnFirstConnect: true,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 250,
  reconnectJitter: 100,
  // A broker that temporarily has another token must not end us.
  ignoreAuthErrorAbort: true,
  pingInterval: 5_000,
  maxPingOut: 2,
});

/** A URL may contain `token@` or `user:password@`; the client takes them separately. */
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
