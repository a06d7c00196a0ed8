import type { JetStreamManager } from '@nats-io/jetstream';
import type { Clock } from '../../../kit/clock.ts';
import type { ReplyInbox } from '../client/reply-inbox.ts';

export interface AnchorsSettings {
  readonly inbox: ReplyInbox;
  readonly manager: Promise<JetStreamManager>;
  readonly stream: string;
  /**
   * Where the stream takes them (`StreamSpec.anchor`); one that ends with `*` stands for `anchorsKept` subjects, of which the stream
   * keeps the newest message each. Absent: the stream needs none, and nothing happens here.
   */
  readonly subject: string | undefined;
  readonly requestTimeoutMs: number;
}

/**
 * From one anchor to the next. The broker cuts off what is removed at the end of a block (of 4 or 8 MB), so a snapshot that ends
 * after the last anchor of its block is not protected: with 32 kB that is less than one in a hundred.
 */
export const anchorBytes = 32 * 1024;
/**
 * The newest stay. As each message counts when it is sent and when it is taken, they reach back 16 MB, twice as far as a replica
 * writes from one snapshot to the next.
 */
export const anchorsKept = 1_024;
/** What a message takes in the store beside its payload, about. */
const overheadBytes = 200;
const trimMs = 60_000;

/**
 * Empty messages that nobody consumes (ADR 25). On several servers the store of a stream is synced only with a snapshot, but the
 * file of a block whose messages are all removed goes at once. If all servers then lose their power, each has less than the snapshot
 * says, waits for a leader to send the rest, and none can lead. A block with an anchor keeps its file until later ones are on the disk.
 */
export class Anchors {
  readonly #settings: AnchorsSettings;
  /** The first message of a process has one too. */
  #bytes = anchorBytes;
  /** Processes that start again and again do not all replace the same ones. */
  #place = Math.floor(Math.random() * anchorsKept);

  constructor(settings: AnchorsSettings) {
    this.#settings = settings;
  }

  /** Notes a message that was stored or taken, and drops an anchor when it is time. Nobody waits for it; should it fail, another follows. */
  note(payloadBytes: number): void {
    const { inbox, subject, requestTimeoutMs: timeoutMs } = this.#settings;
    if (subject === undefined) return;
    this.#bytes += payloadBytes + overheadBytes;
    if (this.#bytes < anchorBytes) return;
    this.#bytes = 0;
    this.#place = (this.#place + 1) % anchorsKept;
    void inbox.ask(subject.replace('*', String(this.#place)), new Uint8Array(), { timeoutMs }).catch(() => {});
  }

  /** Messages in the stream that are no anchors. Rejects with the client's errors. */
  async others(): Promise<number> {
    const { messages, anchors } = await this.#counts();
    return messages - anchors;
  }

  /** Removes the oldest once there are twice as many as needed. Rejects with the client's errors. */
  async trim(): Promise<void> {
    const { manager, stream, subject: filter } = this.#settings;
    if (filter === undefined || (await this.#counts()).anchors <= 2 * anchorsKept) return;
    await (await manager).streams.purge(stream, { filter, keep: anchorsKept });
  }

  /** Trims once a minute. A member of the queue does it: who only publishes must not have the right to purge. */
  async keepTrimming(clock: Clock, stopped: AbortSignal): Promise<void> {
    while (this.#settings.subject !== undefined && !stopped.aborted) {
      await clock.sleep(trimMs, stopped);
      if (!stopped.aborted) await this.trim().catch(() => {});
    }
  }

  async #counts(): Promise<{ messages: number; anchors: number }> {
    const { manager, stream, subject } = this.#settings;
    const filter = subject === undefined ? {} : { subjects_filter: subject };
    const { state } = await (await manager).streams.info(stream, filter);
    return { messages: state.messages, anchors: (subject !== undefined && state.subjects?.[subject]) || 0 };
  }
}
