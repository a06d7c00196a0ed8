import { isTransient, NatterApiError, problemFrom } from './errors.ts';
import type { FollowOptions } from './event-stream.ts';
import { pause, retryMs } from './pause.ts';
import type { Calls } from './socket-calls.ts';
import type { Frame } from './socket-frames.ts';
import { itemOf } from './stream-item.ts';
import { Subscription } from './subscription.ts';
import type { StreamItem } from './types.ts';

type SubscriptionFrame = Exclude<Frame, { type: 'hello' | 'res' }>;

/** The subscriptions of a `Connection`, across reconnects. */
export class Subscriptions {
  readonly #calls: Calls;
  readonly #closing: AbortSignal;
  readonly #all = new Set<Subscription>();
  /** By their names on the current connection. */
  readonly #names = new Map<string, Subscription>();
  /** The current connection. */
  #link: object | null = null;

  constructor(calls: Calls, closing: AbortSignal) {
    this.#calls = calls;
    this.#closing = closing;
  }

  /** Resolves once the gateway has accepted the subscription. */
  async add(filter: Omit<FollowOptions, 'onWaiting' | 'onOpen'>): Promise<AsyncGenerator<StreamItem, void>> {
    const { key, keyPrefix, types, after, live, signal } = filter;
    const params = { sessionKey: key, prefix: keyPrefix, types, deltas: live };
    const subscription = new Subscription(params, after === undefined ? undefined : String(after));
    this.#all.add(subscription);
    const leave = (): void => {
      subscription.end();
      this.#forget(subscription);
    };
    signal?.addEventListener('abort', leave, { once: true, signal: this.#closing });
    if (signal?.aborted) leave();
    this.#begin(subscription);
    const left = (): void => signal?.removeEventListener('abort', leave);
    await subscription.begun.catch((error: unknown) => {
      left();
      throw error;
    });
    const items = this.#handOut(subscription, left);
    await items.next();
    return items;
  }

  /** Subscribes on a new connection. */
  resume(link: object): void {
    this.#link = link;
    for (const subscription of this.#all) if (!subscription.isLetGo) this.#begin(subscription);
  }
  /** The connection was lost. */
  lost(): void {
    this.#link = null;
    this.#names.clear();
  }
  end(reason: unknown): void {
    for (const subscription of this.#all) subscription.end(reason);
  }

  take(frame: SubscriptionFrame, characters: number): void {
    const subscription = this.#names.get(frame.subscription);
    if (subscription === undefined) return;
    if (frame.type === 'end') {
      this.#names.delete(frame.subscription);
      return this.#refused(subscription, new NatterApiError(0, problemFrom(frame.error)));
    }
    if (frame.type === 'delta') subscription.push(itemOf('delta', frame.delta), characters);
    if (frame.type === 'event') subscription.push(itemOf(frame.event.type, frame.event), characters, frame.id);
    if (subscription.isFull) this.#letGo(frame.subscription, subscription);
  }

  /** Subscribes if there is a connection; otherwise the next one does. */
  #begin(subscription: Subscription): void {
    const link = this.#link;
    if (link === null || subscription.askedOn === link || !this.#all.has(subscription)) return;
    subscription.askedOn = link;
    this.#calls.ask('subscribe', subscription.params, (answer) => {
      // The next connection restarts the subscription.
      if (this.#link !== link) return;
      if ('error' in answer) return this.#refused(subscription, answer.error as NatterApiError);
      const { subscription: name, after } = answer.result as { subscription: string; after: string };
      if (!this.#all.has(subscription)) return this.#unsubscribe(name);
      this.#names.set(name, subscription);
      subscription.begin(after);
    });
  }

  /** Retries after a transient error; ends the subscription after any other. */
  #refused(subscription: Subscription, error: NatterApiError): void {
    subscription.askedOn = null;
    if (isTransient(error)) {
      const waitMs = Math.max(error.retryAfterMs ?? 0, retryMs(subscription.refusals));
      subscription.refusals += 1;
      return void pause(waitMs, this.#closing).then(() => this.#begin(subscription));
    }
    this.#all.delete(subscription);
    subscription.end(error);
  }

  #letGo(name: string, subscription: Subscription): void {
    this.#names.delete(name);
    subscription.askedOn = null;
    subscription.isLetGo = true;
    this.#unsubscribe(name);
  }

  /** Unsubscribes. Retries transient failures: later frames are ignored, but the subscription takes up a slot at the gateway. */
  #unsubscribe(subscription: string, failures = 0): void {
    const link = this.#link;
    if (link === null) return;
    this.#calls.ask('unsubscribe', { subscription }, (answer) => {
      if (!('error' in answer) || !isTransient(answer.error)) return;
      void pause(retryMs(failures), this.#closing).then(() => {
        if (this.#link === link) this.#unsubscribe(subscription, failures + 1);
      });
    });
  }

  #forget(subscription: Subscription): void {
    this.#all.delete(subscription);
    for (const [name, known] of this.#names) {
      if (known !== subscription) continue;
      this.#names.delete(name);
      this.#unsubscribe(name);
    }
  }

  async *#handOut(subscription: Subscription, left: () => void): AsyncGenerator<StreamItem, void> {
    try {
      // `add` consumes this item. A generator that never started would not run its `finally` when the reader leaves.
      yield undefined as never;
      yield* subscription.items(() => {
        if (!subscription.isLetGo) return;
        subscription.isLetGo = false;
        this.#begin(subscription);
      });
    } finally {
      left();
      this.#forget(subscription);
    }
  }
}
