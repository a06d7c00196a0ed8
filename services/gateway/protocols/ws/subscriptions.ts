import { z } from 'zod';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { keyFrom } from '../../../../shared/runtime/session-tools/named-session.ts';
import type { Caller } from '../../commands/envelope.ts';
import type { EventFrames } from '../../context/event-frames.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { reachedCursor } from '../../events/event-page.ts';
import { followEvents, followText } from '../../events/event-reader.ts';
import { afterCommit, type Cursor, type EventFilter, formatCursor } from '../../http/cursor.ts';
import { afterParameter, prefixParameter, typesParameter } from '../../http/input.ts';
import { type Call, method } from '../../operation/operation.ts';
import type { Methods } from '../rpc/methods.ts';
import { errorIn } from './frames.ts';
import type { Outbox } from './outbox.ts';

/** The methods `subscribe` and `unsubscribe` of one connection: the events of SSE, in the same order. */

const subscribeParameters = z.strictObject({
  sessionKey: z.string().min(1).max(1_024).optional(),
  prefix: z.string().pipe(prefixParameter.unwrap()).optional(),
  types: typesParameter,
  after: z.string('use a string, such as "17.2"').pipe(afterParameter).optional(),
  deltas: z.boolean().default(false),
});
const unsubscribeParameters = z.strictObject({ subscription: z.string().min(1).max(32) });

/** What subscriptions of one connection share. */
export interface Reading {
  readonly context: GatewayContext;
  readonly frames: EventFrames;
  readonly outbox: Outbox;
}

interface Wanted {
  readonly caller: Caller;
  readonly key: SessionKey | undefined;
  readonly filter: EventFilter;
  readonly cursor: Cursor;
  readonly seen: number;
  readonly deltas: boolean;
}

/** One subscription. As JSON it is the answer of `subscribe`; its events come after that. */
export class Subscription {
  readonly #name: string;
  readonly #reading: Reading;
  readonly #wanted: Wanted;
  readonly #over: () => void;
  readonly #ended = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #cursor: Cursor;

  constructor(name: string, reading: Reading, wanted: Wanted, over: () => void) {
    this.#name = name;
    this.#reading = reading;
    this.#wanted = wanted;
    this.#over = over;
    this.#cursor = wanted.cursor;
  }

  toJSON(): { subscription: string; after: string } {
    return { subscription: this.#name, after: formatCursor(this.#cursor) };
  }

  /** Starts sending, unless it has ended. */
  begin(): void {
    this.#running = this.#run();
  }

  /** Resolves once nothing more is sent. */
  async end(): Promise<void> {
    this.#ended.abort();
    this.#over();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { context, frames, outbox } = this.#reading;
    const { caller, key, filter, cursor, seen, deltas } = this.#wanted;
    const { principal } = caller;
    const { signal } = this.#ended;
    const about = `"subscription":${JSON.stringify(this.#name)}`;
    if (key !== undefined && deltas) {
      void followText(context, { principal, key, signal }, (text) =>
        outbox.write(`{"type":"delta",${about},"delta":${JSON.stringify(text)}}`),
      );
    }
    try {
      await followEvents(context, frames, { principal, key, filter, cursor, seen, signal }, (event, place) =>
        outbox.write(`{"type":"event",${about},"id":"${formatCursor(place)}","event":${event}}`, () => {
          this.#cursor = place;
        }),
      );
    } catch (error) {
      if (signal.aborted) return;
      void this.end();
      const told = { type: 'end', ...this.toJSON(), error: errorIn(error, caller.id, context.log) };
      await outbox.write(JSON.stringify(told));
    }
  }
}

export class Subscriptions {
  readonly #reading: Reading;
  readonly #open = new Map<string, Subscription>();
  #count = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  readonly methods: Methods = {
    subscribe: method({ name: 'subscribe', parameters: subscribeParameters, input: (given) => given }).methodFor(
      'nothing',
      (call, given) => this.#subscribe(call, given),
    ),
    unsubscribe: method({ name: 'unsubscribe', parameters: unsubscribeParameters, input: (given) => given }).methodFor(
      'nothing',
      (_, { subscription }) => this.#unsubscribe(subscription),
    ),
  };

  /** Where each subscription continues, for a client that is disconnected. */
  get cursors(): string {
    return [...this.#open.values()]
      .map((each) => each.toJSON())
      .map(({ subscription, after }) => `${subscription}=${after}`)
      .join(' ');
  }

  end(): void {
    for (const subscription of this.#open.values()) void subscription.end();
  }

  async #subscribe({ context, caller, signal }: Call, given: z.infer<typeof subscribeParameters>): Promise<Subscription> {
    const { sessionKey, prefix, types, after, deltas } = given;
    if (sessionKey !== undefined && prefix !== undefined) throw wrong('prefix', 'give either "sessionKey" or "prefix"');
    if (deltas && sessionKey === undefined) throw wrong('deltas', 'live text is of one session: give "sessionKey"');
    const key = sessionKey === undefined ? undefined : keyFrom(context.config, sessionKey);
    const seen = key === undefined ? 0 : await context.access.enter(caller.principal, key);
    const cursor = await reachedCursor(context, after ?? afterCommit(context.feed.position), 'after');
    // The client may have left meanwhile; nothing would end its subscription.
    if (signal.aborted) throw new NatterError('unavailable', 'the connection has ended');
    const left = context.streams.acquire(caller.actor);
    this.#count += 1;
    const name = String(this.#count);
    const wanted = { caller, key, filter: { types, keyPrefix: prefix }, cursor, seen, deltas };
    const subscription = new Subscription(name, this.#reading, wanted, () => {
      if (this.#open.delete(name)) left();
    });
    this.#open.set(name, subscription);
    return subscription;
  }

  async #unsubscribe(name: string): Promise<Subscription> {
    const subscription = this.#open.get(name);
    if (subscription === undefined) {
      const message = `subscription: there is no "${name}" on this connection`;
      throw new NatterError('not_found', message, { field: 'subscription' });
    }
    await subscription.end();
    return subscription;
  }
}

const wrong = (field: string, message: string): NatterError => new NatterError('invalid', `${field}: ${message}`, { field });
