import { isTransient, NatterApiError } from './errors.ts';
import type { FollowOptions } from './event-stream.ts';
import type { Http } from './http.ts';
import { backoffMs, pause } from './pause.ts';
import { Calls } from './socket-calls.ts';
import type { Frame, WebSocketConstructor } from './socket-frames.ts';
import { type Link, openLink } from './socket-link.ts';
import { itemOf } from './stream-item.ts';
import { Subscription } from './subscription.ts';
import type { StreamItem } from './types.ts';

export interface ConnectOptions {
  /** How long to go on trying for the first connection. Default: the client's. Later ones are tried for until `close`. */
  readonly patienceMs?: number;
  /** Is told why it has to connect again, each time it has to. */
  readonly onWaiting?: (reason: string) => void;
}
export interface SocketCallOptions {
  /** Default 15 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const defaultTimeoutMs = 15_000;

/**
 * Calls and events over a WebSocket that connects again by itself: subscriptions go on where they were, and calls that may be made twice
 * are. A call that may not is told `unreachable`: whether it took effect is then unknown.
 */
export class Connection {
  readonly #http: Http;
  readonly #WebSocket: WebSocketConstructor;
  readonly #options: ConnectOptions;
  readonly #calls = new Calls((frame) => this.#send(frame));
  readonly #subscriptions = new Set<Subscription>();
  readonly #closing = new AbortController();
  /** By their names on the connection there is now. */
  readonly #names = new Map<string, Subscription>();
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
      this.#run(() => resolve(this)).then((error) => reject(error ?? closed()), reject);
    });
  }

  /** Makes a call (docs/http-api.md, "Methods by name"). Throws `NatterApiError`, or the reason of the signal. */
  call<T>(method: string, params: object = {}, { timeoutMs = defaultTimeoutMs, signal }: SocketCallOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#closing.signal.aborted) return reject(closed());
      const over = (end: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        end();
      };
      const forgetting = (reason: unknown) => () => {
        forget();
        over(() => reject(reason));
      };
      const detail = `no answer from ${this.#http.url} within ${timeoutMs / 1_000} s`;
      const abort = (): void => forgetting(signal?.reason)();
      const timer = setTimeout(() => forgetting(new NatterApiError(0, { code: 'timeout', detail }))(), timeoutMs);
      signal?.addEventListener('abort', abort);
      const forget = this.#calls.ask(method, params, (answer) =>
        over(() => ('error' in answer ? reject(answer.error) : resolve(answer.result as T))),
      );
    });
  }

  /**
   * Events from the place that `after` names, without gap or repeat, however often the connection is lost. Resolves once the gateway has
   * taken the subscription. It ends when its reader leaves, with the signal, or with the connection. Who reads slowly is left behind for a
   * while and then served from the log; live text is lost meanwhile.
   */
  async subscribe({
    key,
    keyPrefix,
    types,
    after,
    live,
    signal,
  }: Omit<FollowOptions, 'onWaiting'> = {}): Promise<AsyncGenerator<StreamItem, void>> {
    if (this.#closing.signal.aborted) throw closed();
    const params = { sessionKey: key, prefix: keyPrefix, types, deltas: live };
    const subscription = new Subscription(params, after === undefined ? undefined : String(after));
    this.#subscriptions.add(subscription);
    const stop = (): void => subscription.end();
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    this.#begin(subscription);
    const left = (): void => signal?.removeEventListener('abort', stop);
    await subscription.begun.catch((error: unknown) => {
      left();
      throw error;
    });
    return this.#handOut(subscription, left);
  }

  close(): void {
    this.#closing.abort();
  }

  /** Connects again and again, until it is closed, or there is no use in it: then resolves with why. */
  async #run(opened: () => void): Promise<unknown> {
    const reason = await this.#stay(opened).catch((error: unknown) => error);
    this.#closing.abort();
    this.#calls.lost(reason ?? closed(), true);
    for (const subscription of this.#subscriptions) subscription.end(reason);
    return reason;
  }

  async #stay(opened: () => void): Promise<NatterApiError | undefined> {
    const { signal } = this.#closing;
    let giveUpAt = performance.now() + (this.#options.patienceMs ?? this.#http.patienceMs);
    for (let failures = 0; !signal.aborted; failures++) {
      const token = await this.#http.token();
      const link = openLink({
        ...{ url: this.#http.url, token, WebSocket: this.#WebSocket },
        greeted: () => {
          failures = 0;
          giveUpAt = Number.POSITIVE_INFINITY;
          this.#link = link;
          opened();
          this.#resume();
        },
        take: (frame, characters) => this.#take(frame, characters),
      });
      const stop = (): void => link.close();
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      const error = await link.ended;
      signal.removeEventListener('abort', stop);
      this.#link = null;
      this.#names.clear();
      const waitMs = backoffMs(failures);
      if (signal.aborted) break;
      if (!isTransient(error) || performance.now() + waitMs > giveUpAt) return error;
      this.#calls.lost(error);
      this.#options.onWaiting?.(error.message);
      await pause(waitMs, signal);
    }
    return undefined;
  }

  #resume(): void {
    this.#calls.resume();
    for (const subscription of this.#subscriptions) if (!subscription.isLetGo) this.#begin(subscription);
  }

  #send(frame: string): boolean {
    this.#link?.send(frame);
    return this.#link !== null;
  }

  #take(frame: Exclude<Frame, { type: 'hello' }>, characters: number): void {
    if (frame.type === 'res') return this.#calls.answered(frame);
    const subscription = this.#names.get(frame.subscription);
    if (subscription === undefined) return;
    if (frame.type === 'end') {
      this.#names.delete(frame.subscription);
      return this.#refused(subscription, new NatterApiError(0, frame.error));
    }
    if (frame.type === 'delta') subscription.push(itemOf('delta', frame.delta), characters);
    if (frame.type === 'event') subscription.push(itemOf(frame.event.type, frame.event), characters, frame.id);
    if (subscription.isFull) this.#letGo(frame.subscription, subscription);
  }

  /** Subscribes, if there is a connection; if not, the next one does. */
  #begin(subscription: Subscription): void {
    const link = this.#link;
    if (link === null || subscription.askedOn === link || !this.#subscriptions.has(subscription)) return;
    subscription.askedOn = link;
    this.#calls.ask('subscribe', subscription.params, (answer) => {
      // The next connection has begun it anew, or will.
      if (this.#link !== link) return;
      if ('error' in answer) return this.#refused(subscription, answer.error as NatterApiError);
      const { subscription: name, after } = answer.result as { subscription: string; after: string };
      if (!this.#subscriptions.has(subscription)) return this.#unsubscribe(name);
      this.#names.set(name, subscription);
      subscription.begin(after);
    });
  }

  /** What time mends is asked for again. */
  #refused(subscription: Subscription, error: NatterApiError): void {
    subscription.askedOn = null;
    if (isTransient(error)) return void pause(backoffMs(1), this.#closing.signal).then(() => this.#begin(subscription));
    this.#subscriptions.delete(subscription);
    subscription.end(error);
  }

  #letGo(name: string, subscription: Subscription): void {
    this.#names.delete(name);
    subscription.askedOn = null;
    subscription.isLetGo = true;
    this.#unsubscribe(name);
  }

  #unsubscribe(subscription: string): void {
    if (this.#link !== null) this.#calls.ask('unsubscribe', { subscription }, () => {});
  }

  async *#handOut(subscription: Subscription, left: () => void): AsyncGenerator<StreamItem, void> {
    try {
      yield* subscription.items(() => {
        if (!subscription.isLetGo) return;
        subscription.isLetGo = false;
        this.#begin(subscription);
      });
    } finally {
      left();
      this.#subscriptions.delete(subscription);
      for (const [name, known] of this.#names) {
        if (known !== subscription) continue;
        this.#names.delete(name);
        this.#unsubscribe(name);
      }
    }
  }
}

const closed = (): NatterApiError => new NatterApiError(0, { code: 'closed', detail: 'this connection is closed' });
