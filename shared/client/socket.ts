import { isTransient, NatterApiError, unreachable } from './errors.ts';
import type { FollowOptions } from './event-stream.ts';
import type { Http } from './http.ts';
import { Limit, unlessAborted } from './limit.ts';
import { pause, retryMs } from './pause.ts';
import { Calls } from './socket-calls.ts';
import type { WebSocketConstructor } from './socket-frames.ts';
import { type Link, openLink } from './socket-link.ts';
import { Subscriptions } from './subscriptions.ts';
import type { StreamItem } from './types.ts';

export interface ConnectOptions {
  /** How long to try to connect for the first time. Default: the client's. Later attempts go on until `close`. */
  readonly patienceMs?: number;
  /** Called with the reason each time it has to reconnect. */
  readonly onWaiting?: (reason: string) => void;
}
export interface SocketCallOptions {
  /** Default 15 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const defaultTimeoutMs = 15_000;
/** How long to wait for the token of a connection. */
const tokenMs = 15_000;

/**
 * Calls and events over a WebSocket that reconnects by itself. Subscriptions resume where they were, and repeatable calls are
 * repeated. Other calls fail with `unreachable`; whether they took effect is unknown.
 */
export class Connection {
  readonly #http: Http;
  readonly #WebSocket: WebSocketConstructor;
  readonly #options: ConnectOptions;
  readonly #calls = new Calls((frame) => this.#send(frame));
  readonly #closing = new AbortController();
  readonly #subscriptions = new Subscriptions(this.#calls, this.#closing.signal);
  /** The current connection, once the gateway has accepted the token. */
  #link: Link | null = null;

  constructor(http: Http, WebSocket: WebSocketConstructor, options: ConnectOptions) {
    this.#http = http;
    this.#WebSocket = WebSocket;
    this.#options = options;
  }

  /** Connects. Throws `NatterApiError` if the gateway refuses or cannot be reached in time. */
  open(): Promise<this> {
    return new Promise((resolve, reject) => {
      this.#run(() => resolve(this)).then(() => reject(this.#closing.signal.reason), reject);
    });
  }

  /** Makes a call (docs/integrate/http-api.md, "Methods by name"). Throws `NatterApiError`, or the signal's reason. */
  async call<T>(
    method: string,
    params: object = {},
    { timeoutMs = defaultTimeoutMs, signal }: SocketCallOptions = {},
  ): Promise<T> {
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    const detail = `no answer from ${this.#http.url} within ${timeoutMs / 1_000} s`;
    const limit = new Limit(timeoutMs, () => new NatterApiError(0, { code: 'timeout', detail }), signal);
    const answer = new Promise<T>((resolve, reject) => {
      const forget = this.#calls.ask(method, params, (told) =>
        'error' in told ? reject(told.error) : resolve(told.result as T),
      );
      limit.signal.addEventListener('abort', forget);
    });
    return unlessAborted(answer, limit.signal).finally(() => limit.end());
  }

  /**
   * Events from the position `after`, without gaps or repeats, however often the connection is lost. Resolves once the gateway
   * has accepted the subscription. It ends when its reader leaves, the signal aborts, or the connection is closed. A slow reader
   * is unsubscribed for a while and then served from the log; it misses live text meanwhile.
   */
  async subscribe(filter: Omit<FollowOptions, 'onWaiting' | 'onOpen'> = {}): Promise<AsyncGenerator<StreamItem, void>> {
    this.#closing.signal.throwIfAborted();
    return this.#subscriptions.add(filter);
  }

  close(): void {
    this.#closing.abort(closed());
  }

  /** Reconnects until the connection is closed or reconnecting is pointless. */
  async #run(opened: () => void): Promise<void> {
    const reason = await this.#stay(opened).catch((error: unknown) => error);
    this.#closing.abort(reason);
    this.#calls.lost(this.#closing.signal.reason, true);
    this.#subscriptions.end(reason);
  }

  /** Resolves with the reason why reconnecting is pointless, or with `undefined` once closed. */
  async #stay(opened: () => void): Promise<unknown> {
    const { signal } = this.#closing;
    let giveUpAt = performance.now() + (this.#options.patienceMs ?? this.#http.patienceMs);
    for (let failures = 0; !signal.aborted; failures++) {
      const greeted = (): void => {
        giveUpAt = Number.POSITIVE_INFINITY;
        opened();
      };
      const heard = (): void => {
        failures = 0;
      };
      const error = await this.#live(greeted, heard).catch((problem: unknown) => problem);
      const waitMs = retryMs(failures);
      if (signal.aborted) break;
      if (!isTransient(error) || performance.now() + waitMs > giveUpAt) return error;
      this.#calls.lost(error);
      this.#options.onWaiting?.(error.message);
      await pause(waitMs, signal);
    }
    return undefined;
  }

  /** One connection, from fetching its token to its end. Resolves with the reason for the end. */
  async #live(greeted: () => void, heard: () => void): Promise<NatterApiError> {
    const { signal } = this.#closing;
    const limit = new Limit(tokenMs, () => unreachable('where the token comes from', 'it is silent'), signal);
    const token = await unlessAborted(this.#http.token(), limit.signal).finally(() => limit.end());
    const link = openLink({
      ...{ url: this.#http.url, token, WebSocket: this.#WebSocket },
      greeted: () => {
        this.#link = link;
        greeted();
        this.#calls.resume();
        this.#subscriptions.resume(link);
      },
      take: (frame, characters) => {
        heard();
        if (frame.type === 'res') this.#calls.answered(frame);
        else this.#subscriptions.take(frame, characters);
      },
    });
    signal.addEventListener('abort', link.close);
    if (signal.aborted) link.close();
    const error = await link.ended;
    signal.removeEventListener('abort', link.close);
    this.#link = null;
    this.#subscriptions.lost();
    return error;
  }

  #send(frame: string): boolean {
    this.#link?.send(frame);
    return this.#link !== null;
  }
}

const closed = (): NatterApiError => new NatterApiError(0, { code: 'closed', detail: 'this connection is closed' });
