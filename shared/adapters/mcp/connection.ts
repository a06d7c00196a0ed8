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
  /** Of Natter, which introduces itself. */
  readonly version: string;
  /** Whether to ask for the protocol of 2026 before the older one. Some older servers end at a question they do not know. */
  readonly negotiate: boolean;
  /** Milliseconds until an answer about itself is due. */
  readonly answerMs: number;
  readonly clock: Clock;
}

/** Whether an answer fits the schema that its server gave is the model's to judge: no code is made of a stranger's schema. */
const anything: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/** One connection to an MCP server, from the first question to its loss. */
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

  /** Aborted, with the reason, once it is lost. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Whether the server is well, and what tools it has, is to be asked now. */
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

  /** Tells the tools now, whenever they change and every half minute, until the connection is lost or `signal` aborts; then throws why. */
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
      // Otherwise the server keeps what it knows of us.
      await Promise.race([transport.terminateSession().catch(() => {}), clock.sleep(limits.mcpGoodbyeMs)]);
    }
    await Promise.allSettled([this.client.close(), transport.close()]);
  }

  async #list(timeout: number, signal: AbortSignal): Promise<readonly Listed[]> {
    if (!this.client.getServerCapabilities()?.tools) return [];
    return (await this.client.listTools(undefined, { timeout, signal, cacheMode: 'refresh' })).tools;
  }

  /** A server that keeps talking unasked, or says what nobody understands, takes time from everybody: it is cut off, and begun again later. */
  #count(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#minute >= 60_000) [this.#minute, this.#notifications] = [now, 0];
    if (++this.#notifications === limits.mcpNotifications) {
      this.#over.abort(new Error(`it sent ${limits.mcpNotifications} messages that nobody asked for within a minute`));
    }
  }
}
