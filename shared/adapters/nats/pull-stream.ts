import {
  createInbox,
  type Msg,
  type NatsConnection,
  NatsConnectionImpl,
  nanos,
  type Subscription,
} from '@nats-io/transport-node';
import { pinGroup } from '../../wire/topology.ts';

/** One message as a consumer delivered it. */
export interface Pulled {
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** Sequence in the stream. */
  readonly seq: number;
  /** 1 for the first delivery. */
  readonly deliveries: number;
  /** The header of this name. */
  readonly traceparent?: string | undefined;
  /** `working`: keep it ours for another ack wait. `again`: give it to whoever holds the pin, now. */
  answer(kind: 'done' | 'again' | 'working'): void;
}

export interface PullEvents {
  /** Only the member that holds the pin gets messages, so a message also says: the pin is ours. */
  message(pulled: Pulled): void;
  /** The pin is, or was for a while, or may have been, somebody else's. Comes before any later message. */
  unpinned(): void;
  /** There is no such consumer, or nobody leads it. Pulling goes on until it is back. */
  gone(): void;
}

/** An idle client asks anew once per `expires`, which keeps its pin as long as that is shorter than the pin's time-out. */
const expiresMs = 1_000;
const heartbeatMs = 500;
/** Two missed heartbeats and a bit. */
const silenceMs = 2 * heartbeatMs + 250;
const retryMs = 250;
const batch = 100;
/** The broker's word that a request has expired may be this late. */
const lateMs = 250;

const answers = {
  done: Buffer.from('+ACK'),
  again: Buffer.from('-NAK'),
  working: Buffer.from('+WPI'),
} as const;

/** A durable consumer. One without `pinMs` has no pins. */
export interface PulledConsumer {
  readonly stream: string;
  readonly name: string;
  readonly pinMs?: number;
}

/**
 * Pulls from one durable consumer for as long as it is open. Written on the pull protocol itself: the client's own
 * `consume()` asks for the consumer's details before it pulls again, and was seen to stall with messages pending after a change of
 * leader. Here one request is out at any time, and whenever the broker is silent for two heartbeats a new one goes out.
 */
export class PullStream {
  readonly #connection: NatsConnection;
  readonly #subject: string;
  readonly #inbox: string;
  #events: PullEvents;
  readonly #group: { group?: string };
  readonly #monotonic: () => number;
  readonly #pinMs: number;
  readonly #subscription: Subscription;
  #request = 0;
  #remaining = 0;
  #requestedAt = 0;
  #retryAt: number | null = null;
  #heardAt: number;
  #pin = '';
  #ended: (() => void) | null = null;

  constructor(connection: NatsConnection, consumer: PulledConsumer, events: PullEvents, monotonic: () => number) {
    this.#connection = connection;
    this.#pinMs = consumer.pinMs ?? Number.POSITIVE_INFINITY;
    this.#group = consumer.pinMs === undefined ? {} : { group: pinGroup };
    this.#subject = `$JS.API.CONSUMER.MSG.NEXT.${consumer.stream}.${consumer.name}`;
    this.#inbox = createInbox(connection instanceof NatsConnectionImpl ? connection.options.inboxPrefix : undefined);
    this.#events = events;
    this.#monotonic = monotonic;
    this.#heardAt = monotonic();
    this.#subscription = connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
      },
    });
    this.request();
  }

  /** True while the broker's messages come to us, as far as we know. */
  get pinned(): boolean {
    return this.#pin !== '';
  }

  /** Milliseconds since the consumer last gave a sign of life. */
  silentMs(): number {
    return this.#monotonic() - this.#heardAt;
  }

  /** Asks for the next messages. An earlier request may still be out: its messages are welcome, its end is then ignored. */
  request(): void {
    this.#retryAt = null;
    this.#request += 1;
    this.#remaining = batch;
    this.#requestedAt = this.#monotonic();
    const options = { batch, expires: nanos(expiresMs), idle_heartbeat: nanos(heartbeatMs), ...this.#group };
    const body = JSON.stringify(this.#pin === '' ? options : { ...options, id: this.#pin });
    this.#connection.publish(this.#subject, body, { reply: `${this.#inbox}.${this.#request}` });
  }

  /** Call a few times per second, while connected: asks again where an answer is overdue. */
  tick(): void {
    const now = this.#monotonic();
    const due = this.#retryAt ?? Math.max(this.#heardAt, this.#requestedAt) + silenceMs;
    if (now >= due) this.request();
  }

  /**
   * Asks for nothing more. The last request cannot be taken back, so what it still brings goes to `late`: a message that found nobody would
   * wait for its ack wait. Resolves when that request has ended, a second later at most.
   */
  end(late: PullEvents['message']): Promise<void> {
    this.#events = { message: late, unpinned: () => {}, gone: () => {} };
    const leftMs = this.#requestedAt + expiresMs + lateMs - this.#monotonic();
    return new Promise((resolve) => {
      const expired = setTimeout(() => this.#ended?.(), Math.max(0, leftMs));
      this.#ended = () => {
        clearTimeout(expired);
        if (!this.#connection.isClosed()) this.#subscription.unsubscribe();
        resolve();
      };
      if (this.#retryAt !== null || this.#connection.isClosed()) this.#ended();
    });
  }

  #receive(message: Msg): void {
    if (message.subject.startsWith(this.#inbox)) this.#status(message);
    else this.#deliver(message);
  }

  #status(message: Msg): void {
    if (message.subject !== `${this.#inbox}.${this.#request}`) return;
    if (this.#ended !== null && message.headers?.code !== 100) return this.#ended();
    switch (message.headers?.code) {
      case 100: // a heartbeat
        this.#hear();
        return;
      case 408: // the request has expired
        this.#hear();
        this.request();
        return;
      case 423: // another pin is in force
        this.#hear();
        this.#pin = '';
        this.#events.unpinned();
        this.request();
        return;
      default:
        // Deleted, no leader, shutting down, or over a limit of the consumer: ask again a little later.
        this.#retryAt = this.#monotonic() + retryMs;
        this.#events.gone();
    }
  }

  /** After a silence longer than a pin lasts (this process was stopped, say) the pin may have been elsewhere, whatever arrives now. */
  #hear(): void {
    if (this.silentMs() >= this.#pinMs) this.#events.unpinned();
    this.#heardAt = this.#monotonic();
  }

  #deliver(message: Msg): void {
    this.#hear();
    const pin = message.headers?.get('Nats-Pin-Id') ?? '';
    if (pin !== this.#pin && this.#pin !== '') this.#events.unpinned();
    this.#pin = pin;
    this.#remaining -= 1;
    if (this.#remaining <= 0 && this.#ended === null) this.request();
    this.#events.message({
      subject: message.subject,
      bytes: message.data,
      traceparent: message.headers?.get('traceparent') || undefined,
      ...positionOf(message.reply ?? ''),
      answer: (kind) => {
        if (!this.#connection.isClosed()) message.respond(answers[kind]);
      },
    });
  }
}

/**
 * Reads `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>`; newer servers may put the domain and an
 * account hash after `ACK`.
 */
const positionOf = (reply: string): { seq: number; deliveries: number } => {
  const tokens = reply.split('.');
  const first = tokens.length === 9 ? 4 : 6;
  return { deliveries: Number(tokens[first]), seq: Number(tokens[first + 1]) };
};
