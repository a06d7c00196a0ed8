import {
  type ConnectionOptions,
  createInbox,
  credsAuthenticator,
  errors,
  type NatsConnection,
  NatsConnectionImpl,
  type NKeyAuth,
  ProtocolHandler,
  parseSemVer,
  setTransportFactory,
} from '@nats-io/transport-node';
import { NodeTransport, nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js';
import { HealthProblem, readinessOf } from '../../kit/health-problem.ts';
import { publicKeyOf, signWith } from '../../wire/nkey.ts';
import { connectionFailure, permissionProblem } from './broker-errors.ts';
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

/** The client's transport, which would check the certificate of a broker that is named by its IP address as that of `localhost`. */
class Transport extends NodeTransport {
  #host = '';

  override connect(...[server, options]: Parameters<NodeTransport['connect']>): Promise<void> {
    this.#host = server.hostname;
    return super.connect(server, options);
  }

  override startTLS(): ReturnType<NodeTransport['startTLS']> {
    // Used where the server has no name.
    const host = { host: this.#host };
    this.options = { ...this.options, tls: { ...this.options.tls, ...host } };
    return super.startTLS();
  }
}

/** How long a refused subject is a problem: what a service needs is tried again within this time. */
const refusalMs = 10_000;
/** Different refusals that are remembered. */
const refusalsKept = 16;

/** The client's protocol, which forgets why it could not connect, and tells only the caller which subject was refused. */
class Protocol extends ProtocolHandler {
  /** Why the last attempt to connect failed. */
  dialError: unknown;
  /** What the broker refused, and when, by the monotonic clock. */
  readonly #refused = new Map<string, number>();
  #sending = false;

  override async _doDial(...[server]: Parameters<ProtocolHandler['_doDial']>): Promise<void> {
    try {
      await super._doDial(server);
    } catch (error) {
      this.dialError = error;
      throw error;
    }
  }

  /**
   * What one turn of the event loop sends goes in one write. The client's own method writes after each microtask: under load several times as
   * often, and each write is a system call here and a read at the broker.
   */
  override sendCommand(...[command, ...payloads]: Parameters<ProtocolHandler['sendCommand']>): void {
    this.outbound.fill(typeof command === 'string' ? Buffer.from(command) : command, ...payloads);
    if (this.outbound.size() >= this.pendingLimit) return this.#send();
    if (this.#sending) return;
    this.#sending = true;
    setImmediate(() => {
      this.#sending = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.connected && this.infoReceived && this.outbound.size() > 0) this.transport.send(this.outbound.drain());
  }

  override close(error?: Error): Promise<void> {
    this.#send();
    return super.close(error);
  }

  override disconnected(error?: Error): Promise<void> {
    // With TLS 1.3 the broker refuses a client's certificate after the handshake: without this the dial would wait until it times out.
    this.connectError?.(error ?? new errors.ConnectionError('the broker closed the connection'));
    return super.disconnected(error);
  }

  override handleError(error: Error): void {
    if (error instanceof errors.PermissionViolationError) {
      if (this.#refused.size >= refusalsKept) this.#refused.clear();
      this.#refused.set(permissionProblem(error), performance.now());
    }
    super.handleError(error);
  }

  refusals(): readonly HealthProblem[] {
    const recent = performance.now() - refusalMs;
    return [...this.#refused].flatMap(([problem, at]) => (at > recent ? new HealthProblem('permission_denied', problem) : []));
  }
}

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
    problems: () =>
      readinessOf(all.flatMap((each) => [...connectionProblems(each), ...(protocolOf(each)?.refusals() ?? [])])).details,
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
