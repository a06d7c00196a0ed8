import { errors, ProtocolHandler } from '@nats-io/transport-node';
import { NodeTransport } from '@nats-io/transport-node/lib/node_transport.js';
import { HealthProblem } from '../../../kit/health-problem.ts';
import { permissionProblem } from './broker-errors.ts';

/** The client's transport, which would check the certificate of a broker that is named by its IP address as that of `localhost`. */
export class Transport extends NodeTransport {
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
export class Protocol extends ProtocolHandler {
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
    if (this.outbound.size() >= this.pendingLimit) return this.sendNow();
    if (this.#sending) return;
    this.#sending = true;
    setImmediate(() => {
      this.#sending = false;
      this.sendNow();
    });
  }

  /** Writes what waits to be sent. */
  sendNow(): void {
    if (this.connected && this.infoReceived && this.outbound.size() > 0) this.transport.send(this.outbound.drain());
  }

  override close(error?: Error): Promise<void> {
    this.sendNow();
    return super.close(error);
  }

  override disconnected(error?: Error): Promise<void> {
    // With TLS 1.3 the broker refuses a client's certificate after the handshake: without this the dial would wait until it times out.
    this.connectError?.(error ?? new errors.ConnectionError('the broker closed the connection'));
    return super.disconnected(error);
  }

  override handleError(error: Error): void {
    // Users that were made before there was discovery may not be asked what they are, and nothing else depends on it.
    if (error instanceof errors.PermissionViolationError && !error.subject.startsWith('$SRV.')) {
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
