import {
  type ConnectionOptions,
  createInbox,
  credsAuthenticator,
  type NatsConnection,
  NatsConnectionImpl,
  type NKeyAuth,
  parseSemVer,
  type ServerInfo,
  setTransportFactory,
} from '@nats-io/transport-node';
import { nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js';
import { HealthProblem, readinessOf } from '../../../kit/health-problem.ts';
import { publicKeyOf, signWith } from '../../../wire/nkey.ts';
import { connectionFailure } from './broker-errors.ts';
import { Protocol, Transport } from './protocol.ts';
import { isNewEnough, minimumServerVersion } from './version.ts';

/** How a client proves who it is, and whom it trusts, beside a token or a password. */
export interface BrokerCredentials {
  /** Paths of PEM files, read again for each connection. Present: the broker must speak TLS. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** The contents of a credentials file: a JWT and its seed. Called for each connection; must not throw. */
  readonly creds?: () => string;
  /** An nkey seed (`SU…`). A function is called for each connection, and must not throw. */
  readonly nkeySeed?: string | (() => string);
}

/** The broker's address and the timeout of a call. `servers` is a URL, or several separated by commas. */
export interface ConnectionSettings extends BrokerCredentials {
  readonly servers: string;
  readonly token?: string;
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
  setTransportFactory({ factory: () => new Transport(), dnsResolveFn: nodeResolveHost });
  const connection: NatsConnectionImpl = Reflect.construct(NatsConnectionImpl, [clientOptions(settings)]);
  const protocol = new Protocol(connection.options, connection);
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
  /** Why a connection is not usable, and what the broker refused of late; empty if all is well. */
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
    problems: () => {
      const found = all.flatMap((each) => [...connectionProblems(each), ...(protocolOf(each)?.refusals() ?? [])]);
      return found.length === 0 ? found : readinessOf(found).details;
    },
    close: async () => {
      await Promise.all(all.map(closeConnection));
    },
  };
};

/** Why no broker is connected; `null` if one is. */
export const disconnection = (connection: NatsConnection): string | null => {
  if (connection.isClosed()) return 'the connection to the broker is closed';
  const protocol = protocolOf(connection);
  if (protocol === null || protocol.connected) return null;
  const { dialError } = protocol;
  return `not connected to the broker${dialError === undefined ? '' : `: ${connectionFailure(dialError)}`}`;
};

const protocolOf = (connection: NatsConnection): Protocol | null =>
  connection instanceof NatsConnectionImpl && connection.protocol instanceof Protocol ? connection.protocol : null;

/** Why this connection is not usable now; empty if it is. */
export const connectionProblems = (connection: NatsConnection): readonly HealthProblem[] => {
  const away = disconnection(connection);
  if (away !== null) return [new HealthProblem('broker_away', away, away.split('; ').slice(1).join('; ') || undefined)];
  if (!(connection instanceof NatsConnectionImpl)) return [];
  return connection.info === undefined ? unusable({}) : unusableOnce(connection.info);
};

type ServerFacts = Partial<Pick<ServerInfo, 'version' | 'jetstream' | 'cluster'>>;

/** What a server says of itself comes once for each connection to it, and every call asks whether it will do. */
const judged = new WeakMap<ServerInfo, readonly HealthProblem[]>();
const unusableOnce = (info: ServerInfo): readonly HealthProblem[] => {
  const known = judged.get(info) ?? unusable(info);
  judged.set(info, known);
  return known;
};

const unusable = ({ version = '', jetstream, cluster }: ServerFacts): readonly HealthProblem[] => {
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
  // In a cluster the others answer through it: a server whose disk is full turns its own off.
  if (jetstream || cluster !== undefined) return [];
  const fix = 'start nats-server with -js, or enable JetStream for the account';
  return [new HealthProblem('broker_unusable', 'the broker runs without JetStream', fix)];
};

/** Writes what is to be sent over this connection at once. Each call may be a system call. */
export const sendNow = (connection: NatsConnection): void => protocolOf(connection)?.sendNow();

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
  inboxPrefix,
  name,
  requestTimeoutMs,
  ...credentials
}: ConnectionSettings): ConnectionOptions => ({
  ...addressesAndCredentials(servers),
  ...(token === undefined ? {} : { token }),
  ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
  ...credentialOptions(credentials),
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

const credentialOptions = ({ tls, creds, nkeySeed }: BrokerCredentials): Pick<ConnectionOptions, 'tls' | 'authenticator'> => {
  const bytes = (text: string | (() => string)) => () => new TextEncoder().encode(textOf(text));
  return {
    ...(tls && { tls: { ...tls } }),
    ...(creds && { authenticator: credsAuthenticator(bytes(creds)) }),
    ...(nkeySeed && { authenticator: nkeyAuthenticator(nkeySeed) }),
  };
};

/** The seed is read for each connection. */
const nkeyAuthenticator =
  (seed: string | (() => string)) =>
  (nonce = ''): NKeyAuth => ({ nkey: publicKeyOf(textOf(seed)), sig: signWith(textOf(seed), nonce) });

const textOf = (text: string | (() => string)): string => (typeof text === 'string' ? text : text());

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
