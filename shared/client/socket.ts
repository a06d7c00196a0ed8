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
  /** How long to go on trying for the first connection. Default: the client's. Later ones are tried for until `close`. */
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
/** How long the token of a connection may take. */
const tokenMs = 15_000;

/**
 * Calls and events over a WebSocket that connects again by itself: subscriptions go on where they were, and calls that may be made twice
 * are. Other calls fail with `unreachable`: whether they took effect is unknown.
 */
export class Connection {
  readonly #http: Http;
  readonly #WebSocket: WebSocketConstructor;
  readonly #options: ConnectOptions;
  readonly #calls = new Calls((frame) => this.#send(frame));
  readonly #closing = new AbortController();
  readonly #subscriptions = new Subscriptions(this.#calls, this.#closing.signal);
  /** Where the gateway has let us in. */
  #link: Link | null = null;

  constructor(http: Http, WebSocket: WebSocketConstructor, options: ConnectOptions) {
    this.#http = http;
    this.#WebSocket = WebSocket;
    this.#options = options;
  }

  /** Connects. Throws `NatterApiError` when the gateway does not let us in, or is not there in time. */
  open(): Promise<this> {
    return new Promise((resolve, reject) => {
      this.#run(() => resolve(this)).then(() => reject(this.#closing.signal.reason), reject);
    });
  }

  /** Makes a call (docs/integrate/http-api.md, "Methods by name"). Throws `NatterApiError`, or the reason of the signal. */
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
   * Events from the place that `after` names, without gap or repeat, however often the connection is lost. Resolves once the gateway has
   * taken the subscription. It ends when its reader leaves, with the signal, or with the connection. Who reads slowly is left behind for a
   * while and then served from the log; live text is lost meanwhile.
   */
  async subscribe(filter: Omit<FollowOptions, 'onWaiting'> = {}): Promise<AsyncGenerator<StreamItem, void>> {
    this.#closing.signal.throwIfAborted();
    return this.#subscriptions.add(filter);
  }

  close(): void {
    this.#closing.abort(closed());
  }

  /** Connects again and again, until it is closed, or there is no use in it. */
  async #run(opened: () => void): Promise<void> {
    const reason = await this.#stay(opened).catch((error: unknown) => error);
    this.#closing.abort(reason);
    this.#calls.lost(this.#closing.signal.reason, true);
    this.#subscriptions.end(reason);
  }

  /** Resolves with why there is no use in it; closed, with nothing. */
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

  /** One connection, from its token to its end. Resolves with why it has ended. */
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
