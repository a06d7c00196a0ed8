import { type Msg, type NatsConnection, nanos, type Subscription } from '@nats-io/transport-node';
import { pinGroup } from '../../wire/topology.ts';
import { inboxOf } from './client/connection.ts';
import { isStrayAnswer, nothing } from './client/direct-read.ts';
import { headerText, lastHeader } from './client/header-text.ts';

/** One message as a consumer delivered it. */
export interface Pulled {
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** Sequence in the stream. */
  readonly seq: number;
  /** 1 for the first delivery. */
  readonly deliveries: number;
  /** When the broker stored it, ms. */
  readonly storedAt: number;
  /** The header of this name. */
  readonly traceparent?: string | undefined;
  /** `working`: extends our ack wait. `again`: redelivers it now, to the member that holds the pin. */
  answer(kind: 'done' | 'again' | 'working'): void;
}

export interface PullEvents {
  /** Only the member that holds the pin gets messages, so a message also proves that the pin is ours. */
  message(pulled: Pulled): void;
  /** The pin belongs to another member, or did or may have for a while. Called before any later message. */
  unpinned(): void;
  /** The consumer does not exist or has no leader. Pulling continues until it is back. */
  gone(): void;
}

/** While messages come, a new request every `expires`; as long as that is shorter than the pin's timeout, it keeps the pin. */
const expiresMs = 1_000;
const heartbeatMs = 500;
/** Two missed heartbeats plus some tolerance. */
const silenceMs = 2 * heartbeatMs + 250;
const retryMs = 250;
const batch = 100;
/** The broker's notice that a request has expired may be this late. */
const lateMs = 250;
/** How long a request lasts when nothing comes: the broker need not be asked, it says at once what ends it early. */
const restMs = 60_000;

/**
 * `busy`: keeps the pin, and hears a heartbeat. `fading`: one request that outlives the pin, so that it is never in force while we request
 * without it. `resting`: one long request without a pin and without heartbeats; the next message brings a new pin. Those last two end with
 * their first message: what the broker still holds of us when we are frozen must be little.
 */
type Stage = 'busy' | 'fading' | 'resting';

const answers = {
  done: Buffer.from('+ACK'),
  again: Buffer.from('-NAK'),
  working: Buffer.from('+WPI'),
} as const;

/** A durable consumer. Without `pinMs` it has no pins. */
export interface PulledConsumer {
  readonly stream: string;
  readonly name: string;
  readonly pinMs?: number;
}

/**
 * Pulls from one durable consumer as long as it is open. Uses the pull protocol directly: the client's own `consume()` requests
 * the consumer's details before it pulls again, and stalled with pending messages after a change of leader. Here one request is
 * out at any time, and when the broker is silent for two heartbeats a new one is sent. On a server that is alone a consumer that has
 * nothing for us rests: there only the loss of the connection can lose a request. In a cluster its leader may, and says nothing.
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
  #stage: Stage = 'busy';
  #request = 0;
  #remaining = 0;
  #requestedAt = 0;
  #retryAt: number | null = null;
  #heardAt: number;
  #pin = '';
  #stopped = false;
  #ended = false;

  constructor(connection: NatsConnection, consumer: PulledConsumer, events: PullEvents, monotonic: () => number) {
    this.#connection = connection;
    this.#pinMs = consumer.pinMs ?? Number.POSITIVE_INFINITY;
    this.#group = consumer.pinMs === undefined ? {} : { group: pinGroup };
    this.#subject = `$JS.API.CONSUMER.MSG.NEXT.${consumer.stream}.${consumer.name}`;
    this.#inbox = inboxOf(connection);
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

  /** True while the broker delivers to us, as far as we know. */
  get pinned(): boolean {
    return this.#pin !== '';
  }

  /** Milliseconds since the consumer's last sign of life. */
  silentMs(): number {
    return this.#monotonic() - this.#heardAt;
  }

  /** Requests the next messages. An earlier request may still be out: its messages are handled, its end is ignored. */
  request(stage: Stage = 'busy'): void {
    this.#retryAt = null;
    if (this.#stopped) return;
    this.#stage = stage;
    if (stage === 'resting') this.#pin = '';
    this.#request += 1;
    this.#remaining = stage === 'busy' ? batch : 1;
    this.#requestedAt = this.#monotonic();
    const options = {
      batch: this.#remaining,
      expires: nanos(this.#expiresMs()),
      ...(stage !== 'resting' && { idle_heartbeat: nanos(heartbeatMs) }),
      ...this.#group,
      ...(this.#pin !== '' && { id: this.#pin }),
    };
    this.#connection.publish(this.#subject, JSON.stringify(options), { reply: `${this.#inbox}.${this.#request}` });
  }

  /** Call a few times per second while connected: sends a new request if an answer is overdue. */
  tick(): void {
    const now = this.#monotonic();
    const rests = this.#stage === 'resting' && now < this.#requestedAt + restMs + lateMs;
    if (rests) return this.#hear(); // Nothing is due from the broker; that we are awake is all there is to hear.
    const due = this.#retryAt ?? Math.max(this.#heardAt, this.#requestedAt) + silenceMs;
    if (now >= due) this.request();
  }

  /**
   * Sends no further request. Call this before the pin is given up: the broker refuses the request that is out then, and would give the
   * pin to another one from here, which keeps the next member waiting until it ends.
   */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Stops requesting. Messages that are on their way here go to `late`: an unhandled one would be delayed by its ack wait. Resolves when
   * the broker has confirmed that no more will come, after a second at most.
   */
  async end(late: PullEvents['message']): Promise<void> {
    this.#events = { message: late, unpinned: () => {}, gone: () => {} };
    this.#stopped = true;
    this.#ended = true;
    if (this.#connection.isClosed()) return;
    let patience: NodeJS.Timeout | undefined;
    // Without an answer the connection is broken, and the request with it.
    const lost = new Promise((resolve) => (patience = setTimeout(resolve, expiresMs)));
    await Promise.race([this.#subscription.drain().catch(() => {}), lost]);
    clearTimeout(patience);
  }

  #expiresMs(): number {
    return { busy: expiresMs, fading: this.#pinMs + lateMs, resting: restMs }[this.#stage];
  }

  /** After a request that has expired. */
  #next(): Stage {
    const wasUsed = this.#stage === 'busy' && this.#remaining < batch;
    if (wasUsed || this.#connection.info?.cluster !== undefined) return 'busy';
    return this.#pin === '' || this.#stage === 'fading' ? 'resting' : 'fading';
  }

  #receive(message: Msg): void {
    if (message.subject.startsWith(this.#inbox)) this.#status(message);
    else this.#deliver(message);
  }

  #status(message: Msg): void {
    if (this.#ended || message.subject !== `${this.#inbox}.${this.#request}`) return;
    switch (message.headers?.code) {
      case 100: // a heartbeat
        this.#hear();
        return;
      case 408: // the request has expired
        this.#hear();
        this.request(this.#next());
        return;
      case 423: // another pin is in force, or ours has expired as it was to
        this.#hear();
        this.#pin = '';
        if (this.#monotonic() < this.#requestedAt + this.#pinMs) this.#events.unpinned();
        this.request();
        return;
      default:
        // Deleted, no leader, shutting down, or over a limit of the consumer: retry a little later.
        this.#stage = 'busy';
        this.#retryAt = this.#monotonic() + retryMs;
        this.#events.gone();
    }
  }

  /**
   * After a silence longer than a pin lasts (the process was paused, for example) another member may have had the pin, whatever
   * arrives now.
   */
  #hear(): void {
    if (this.silentMs() >= this.#pinMs) this.#events.unpinned();
    this.#heardAt = this.#monotonic();
  }

  #deliver(message: Msg): void {
    this.#hear();
    const header = headerText(message);
    const pin = lastHeader(header, 'Nats-Pin-Id');
    if (pin !== this.#pin && this.#pin !== '') this.#events.unpinned();
    this.#pin = pin;
    this.#remaining -= 1;
    if (this.#remaining <= 0) this.request();
    this.#events.message({
      subject: message.subject,
      bytes: isStrayAnswer(header, 0) ? nothing : message.data,
      traceparent: lastHeader(header, 'traceparent') || undefined,
      ...positionOf(message.reply ?? ''),
      answer: (kind) => {
        if (!this.#connection.isClosed()) message.respond(answers[kind]);
      },
    });
  }
}

/**
 * Parses `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>`; newer servers may insert the
 * domain and an account hash after `ACK`.
 */
const positionOf = (reply: string): Pick<Pulled, 'seq' | 'deliveries' | 'storedAt'> => {
  const tokens = reply.split('.');
  const first = tokens.length === 9 ? 4 : 6;
  const [deliveries, seq, , nanoseconds] = tokens.slice(first).map(Number);
  return { deliveries: deliveries ?? 0, seq: seq ?? 0, storedAt: Math.floor((nanoseconds ?? 0) / 1_000_000) };
};
