import { SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client';
import type { Config } from '../../domain/config/schema.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { errorMessage } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import { oneLine } from '../../kit/one-line.ts';
import { scrubber } from '../../kit/scrub.ts';
import type { Tool, ToolEnd } from '../../ports/tools.ts';
import { ChildTransport } from './child-transport.ts';
import { Connection } from './connection.ts';
import type { McpOptions } from './create.ts';
import { offeredTools } from './offered.ts';
import { endOf } from './result.ts';
import { Steadiness } from './steadiness.ts';
import { secretsOf, transportTo } from './transport.ts';

const restarts = { firstMs: limits.mcpRestartMs, mostMs: limits.mcpRestartCapMs };

/**
 * One MCP server: started in the background, monitored, and restarted when it is lost, with growing delays. Its last tools stay
 * offered meanwhile; calls then fail with an error that says so.
 */
export class McpServer {
  readonly #name: string;
  readonly #settings: Config['mcp']['servers'][string];
  readonly #options: McpOptions & { readonly startMs: number };
  /** Hides in the server's output the secrets it was given (I12). */
  readonly #scrub: (words: string) => string;
  readonly #closing = new AbortController();
  readonly #begunAt: number;
  readonly #running: Promise<void>;
  #connection: Connection | null = null;
  readonly #steadiness = new Steadiness();
  #tools: readonly Tool[] = [];
  #left: readonly string[] = [];
  /** Why it is not connected; `null` before the first failure. */
  #trouble: string | null = null;
  #negotiate = true;
  #settle = () => {};
  /** Resolves once it is connected or the first attempt has failed. */
  readonly started = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(name: string, settings: Config['mcp']['servers'][string], options: McpOptions & { readonly startMs: number }) {
    this.#name = name;
    this.#settings = settings;
    this.#options = options;
    this.#scrub = scrubber(secretsOf(settings, options.env));
    this.#begunAt = options.clock.monotonic();
    this.#running = this.#run();
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  problems(): readonly string[] {
    const field = `mcp.servers.${this.#name}`;
    const { clock, startMs } = this.#options;
    if (this.#connection !== null && this.#steadiness.isBelieved(clock.monotonic()))
      return this.#left.map((problem) => `${field}: ${problem}`);
    if (this.#trouble !== null) return [this.#trouble.startsWith(field) ? this.#trouble : `${field}: ${this.#trouble}`];
    return clock.monotonic() - this.#begunAt < startMs ? [] : [`${field}: starting`];
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('closed'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted; failures++) {
      const begunAt = clock.monotonic();
      try {
        await this.#connect(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#trouble = oneLine(this.#scrub(errorMessage(error)), 500);
        log.warn({ server: this.#name, problem: this.#trouble }, 'MCP server is not connected; it will be restarted');
      } finally {
        this.#settle();
      }
      if (clock.monotonic() - begunAt > limits.mcpRestartCapMs) failures = 0;
      await clock.sleep(backoffMs(restarts, failures), signal);
    }
  }

  /** Connects, then watches the connection until it is lost; throws the reason. */
  async #connect(signal: AbortSignal): Promise<never> {
    const { clock, version, startMs, env } = this.#options;
    const log = this.#options.log.child({ server: this.#name });
    const transport = transportTo(this.#settings, `mcp.servers.${this.#name}`, { env, clock, log });
    const connection = new Connection({ transport, version, negotiate: this.#negotiate, answerMs: startMs, clock });
    const close = () => void connection.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      await this.#open(connection);
      return await connection.watch(signal, (listed) => {
        const { tools, left } = offeredTools(this.#name, listed, (tool, given, until) => this.#call(tool, given, until));
        if (this.#connection === null) log.info({ tools: tools.length, child: childOf(transport) }, 'MCP server is connected');
        if (this.#connection === null) this.#steadiness.connected(clock.monotonic());
        [this.#tools, this.#left, this.#connection] = [tools, left, connection];
        this.#settle();
      });
    } finally {
      if (this.#connection !== null) this.#steadiness.lost(clock.monotonic());
      this.#connection = null;
      signal.removeEventListener('abort', close);
      await connection.close();
    }
  }

  /** Stays with the protocol that the server understood. If the handshake failed, the next attempt uses the other one. */
  async #open(connection: Connection): Promise<void> {
    try {
      await connection.open();
      this.#negotiate = connection.client.getProtocolEra() === 'modern';
    } catch (error) {
      this.#negotiate = !this.#negotiate;
      throw error;
    }
  }

  async #call(tool: string, given: Record<string, unknown>, signal: AbortSignal): Promise<ToolEnd> {
    const connection = this.#connection;
    if (connection === null) return failed(`the MCP server ${this.#name} is not connected: ${this.#trouble ?? 'it starts'}`);
    const { timeoutMs } = this.#options;
    try {
      return endOf(await connection.client.callTool({ name: tool, arguments: given }, { timeout: timeoutMs, signal }));
    } catch (error) {
      connection.look();
      signal.throwIfAborted();
      return failed(this.#problemOf(error));
    }
  }

  /** The error for the model. After a call without an answer, its effect is unknown. */
  #problemOf(error: unknown): string {
    const server = `the MCP server ${this.#name}`;
    const unknown = 'whether the call had an effect is not known';
    const code = error instanceof SdkError ? error.code : null;
    if (code === SdkErrorCode.RequestTimeout) return `${server} gave no answer within ${this.#options.timeoutMs} ms; ${unknown}`;
    if (code === SdkErrorCode.ConnectionClosed) return `the connection to ${server} was lost during the call; ${unknown}`;
    return `${server} answered with an error: ${oneLine(this.#scrub(errorMessage(error)), 1_000)}`;
  }
}

const childOf = (transport: Transport): number | null => (transport instanceof ChildTransport ? transport.pid : null);

const failed = (text: string): ToolEnd => ({ outcome: 'error', text });
