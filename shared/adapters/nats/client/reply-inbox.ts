import { JetStreamApiError } from '@nats-io/jetstream';
import { errors, type Msg, type MsgHdrs, MsgHdrsImpl, type NatsConnection } from '@nats-io/transport-node';
import { NatterError } from '../../../kit/errors.ts';
import { inboxOf, sendNow } from './connection.ts';

export interface RequestOptions {
  readonly timeoutMs: number;
  /** Not validated: values from outside must be escaped. */
  readonly headers?: Readonly<Record<string, string>>;
}
/** The broker's acknowledgement of a stored message. */
export interface Stored {
  readonly seq: number;
  readonly duplicate?: boolean;
}
interface ApiFailure {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

/**
 * Requests with one or many replies, over one wildcard subscription. It takes half the CPU time of the client's own `request` (15
 * µs less per commit), and unlike `getBatch` it leaves no subscription behind and notices when the replies stop half way.
 */
export class ReplyInbox {
  readonly #connection: NatsConnection;
  readonly #prefix: string;
  readonly #waiting = new Map<string, (reply: Msg) => void>();
  #requests = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#prefix = `${inboxOf(connection)}.`;
    connection.subscribe(`${this.#prefix}*`, {
      callback: (error, reply) => {
        if (error === null) this.#waiting.get(reply.subject.slice(this.#prefix.length))?.(reply);
      },
    });
  }

  /**
   * Sends a request and passes each reply to `take` until that returns true. Rejects with the client's error: `TimeoutError`
   * after `timeoutMs` of silence, `NoRespondersError`, or what publishing throws.
   */
  request(
    subject: string,
    payload: Uint8Array | string,
    { timeoutMs, headers }: RequestOptions,
    take: (reply: Msg) => boolean,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const token = String(this.#requests++);
      const end = (error?: unknown): void => {
        clearTimeout(silence);
        this.#waiting.delete(token);
        if (error === undefined) resolve();
        else reject(error);
      };
      let heard = 0;
      // A process that stalls is no silent broker: what has arrived meanwhile is read first.
      const silence = setTimeout(() => {
        const known = heard;
        setImmediate(() => heard === known && end(new errors.TimeoutError()));
      }, timeoutMs);
      this.#waiting.set(token, (reply) => {
        heard += 1;
        try {
          if (isNoResponders(reply)) end(new errors.NoRespondersError(subject));
          else if (take(reply)) end();
          else silence.refresh();
        } catch (error) {
          end(error);
        }
      });
      try {
        this.#connection.publish(subject, payload, {
          reply: this.#prefix + token,
          ...(headers && { headers: headersOf(headers) }),
        });
      } catch (error) {
        end(error);
      }
    });
  }

  /** Sends a message that nobody answers. One that cannot be sent is missing to whoever waits for it. */
  tell(subject: string, payload: Uint8Array | string, headers: Readonly<Record<string, string>>): void {
    try {
      this.#connection.publish(subject, payload, { headers: headersOf(headers) });
    } catch {
      // Closed, or too large for the client: the request after it says so.
    }
  }

  /** Sends what was published at once, and not when all that runs now has run. */
  flush(): void {
    sendNow(this.#connection);
  }

  /** One request with one JSON reply. Also rejects with the `JetStreamApiError` in the reply. */
  async ask<T>(subject: string, payload: Uint8Array | string, options: RequestOptions): Promise<T> {
    let answer: (T & { error?: ApiFailure }) | undefined;
    await this.request(subject, payload, options, ({ data }) => {
      answer = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString());
      return true;
    });
    if (answer === undefined) throw new NatterError('unavailable', 'the broker gave no answer');
    if (answer.error) throw new JetStreamApiError(answer.error);
    return answer;
  }
}

/** `fromRecord` validates nothing, which saves 4 µs per commit. */
const headersOf = (values: Readonly<Record<string, string>>): MsgHdrs => {
  const record: Record<string, string[]> = {};
  for (const name in values) record[name] = [values[name] ?? ''];
  return MsgHdrsImpl.fromRecord(record);
};

/** Of an answer with data the headers are not looked at: to do so makes the client parse them, which is most of the work of an answer. */
const isNoResponders = (reply: Msg): boolean => reply.data.length === 0 && reply.headers?.code === 503;
