import {
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Tool as Listed,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../kit/clock.ts';
import { limits } from '../../kit/limits.ts';
import { Signal } from '../../kit/signal.ts';

export interface ConnectOptions {
  readonly transport: Transport;
  /** Natter's version, for the handshake. */
  readonly version: string;
  /** Whether to try the protocol of 2026 first. Some older servers exit at an unknown request. */
  readonly negotiate: boolean;
  /** Milliseconds within which the server must answer requests about itself. */
  readonly answerMs: number;
  readonly clock: Clock;
}

/** Accepts any structured output: the model judges the result, and no validator is compiled from an untrusted schema. */
const anything: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/** One connection to an MCP server, from the handshake until it is lost. */
export class Connection {
  readonly client: Client;
  readonly #options: ConnectOptions;
  readonly #over = new AbortController();
  readonly #look = new Signal();
  #notifications = 0;
  #minute: number;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#minute = options.clock.monotonic();
    const mode = options.negotiate ? 'auto' : 'legacy';
    this.client = new Client(
      { name: 'natter', version: options.version },
      {
        jsonSchemaValidator: anything,
        listMaxPages: limits.mcpListPages,
        versionNegotiation: { mode, probe: { timeoutMs: Math.ceil(options.answerMs / 3) } },
        listChanged: { tools: { autoRefresh: false, onChanged: () => this.look() } },
      },
    );
  }

  /** Aborts, with the reason, when the connection is lost. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Triggers a health check and a new tool list. */
  look(): void {
    this.#look.notify();
  }

  async open(): Promise<void> {
    const { transport, answerMs } = this.#options;
    let cause: unknown = new Error('the connection was lost');
    this.client.onerror = (error) => {
      cause = error;
      this.#count();
    };
    this.client.onclose = () => this.#over.abort(cause);
    transport.onmessage = (message) => void ('method' in message && this.#count());
    await this.client.connect(transport, { timeout: answerMs });
  }

  /**
   * Reports the tools now, on every change and at least every half minute, until the connection is lost or `signal` aborts; then
   * throws the reason.
   */
  async watch(signal: AbortSignal, tell: (tools: readonly Listed[]) => void): Promise<never> {
    const { clock, answerMs } = this.#options;
    const over = AbortSignal.any([signal, this.over]);
    for (;;) {
      over.throwIfAborted();
      tell(await this.#list(answerMs, over));
      const next = new AbortController();
      const later = clock.sleep(limits.mcpCheckMs, AbortSignal.any([over, next.signal]));
      void later.then(() => next.signal.aborted || this.look());
      await this.#look.wait(over);
      next.abort();
    }
  }

  async close(): Promise<void> {
    const { transport, clock } = this.#options;
    this.#over.abort(new Error('closed'));
    if (transport instanceof StreamableHTTPClientTransport) {
      // Otherwise the server keeps our session.
      await Promise.race([transport.terminateSession().catch(() => {}), clock.sleep(limits.mcpGoodbyeMs)]);
    }
    await Promise.allSettled([this.client.close(), transport.close()]);
  }

  async #list(timeout: number, signal: AbortSignal): Promise<readonly Listed[]> {
    if (!this.client.getServerCapabilities()?.tools) return [];
    return (await this.client.listTools(undefined, { timeout, signal, cacheMode: 'refresh' })).tools;
  }

  /** Cuts off a server that floods us with unsolicited or invalid messages; it is restarted later. */
  #count(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#minute >= 60_000) [this.#minute, this.#notifications] = [now, 0];
    if (++this.#notifications === limits.mcpNotifications) {
      this.#over.abort(new Error(`it sent ${limits.mcpNotifications} unsolicited messages within a minute`));
    }
  }
}
