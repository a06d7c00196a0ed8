import type { JetStreamManager } from '@nats-io/jetstream';
import type { Clock } from '../../../kit/clock.ts';
import { errorMessage } from '../../../kit/errors.ts';
import { limits } from '../../../kit/limits.ts';
import { isGone } from '../broker-errors.ts';

export interface DoneMessagesSettings {
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly clock: Clock;
  /** Subjects of a partition's stored messages. */
  filterOf(partition: number): string;
  isConnected(): boolean;
}

/** What one partition may be rid of: all up to `seq`. */
interface Mark {
  readonly seq: number;
  readonly messages: number;
}

const sweepMs = 2_000;
const removalsAtOnce = 8;

/**
 * Removes what is done from a stream that keeps everything (ADR 9), many messages at a time. What may go is known from our own
 * acknowledgements alone: a partition's messages come one after another, so what was acknowledged here last was acknowledged or removed up
 * to there. A removal that names a sequence of an earlier life of the stream finds nothing: sequences only rise (`sequencesRise`).
 */
export class DoneMessages {
  readonly #settings: DoneMessagesSettings;
  readonly #marks = new Map<number, Mark>();
  readonly #stopped = new AbortController();
  readonly #sweeping: Promise<void>;
  #failure = '';

  constructor(settings: DoneMessagesSettings) {
    this.#settings = settings;
    this.#sweeping = this.#keepSweeping();
  }

  /** The message is done and acknowledged, and it does no harm if it comes again: removed with others, soon. */
  note(partition: number, seq: number): void {
    const before = this.#marks.get(partition);
    this.#marks.set(partition, { seq: Math.max(seq, before?.seq ?? 0), messages: (before?.messages ?? 0) + 1 });
  }

  /** Removes one message now, before it is acknowledged. False when the broker does not confirm it. */
  async removeNow(seq: number): Promise<boolean> {
    const { manager, stream, isConnected } = this.#settings;
    if (!isConnected()) return false;
    try {
      // A purge would do, but the broker gives out nothing newer after one that took what is out.
      return await manager.streams.deleteMessage(stream, seq, false);
    } catch (error) {
      return isGone(error);
    }
  }

  /** The stream is another one. */
  forget(): void {
    this.#marks.clear();
  }

  problems(): readonly string[] {
    const messages = [...this.#marks.values()].reduce((sum, mark) => sum + mark.messages, 0);
    if (messages <= limits.doneMessages) return [];
    return [`${this.#settings.stream} still holds ${messages} messages that are done: ${this.#failure || 'the broker is slow'}`];
  }

  /** Removes what it can within a second. Nothing is lost by what stays. */
  async close(): Promise<void> {
    this.#stopped.abort();
    const late = new AbortController();
    await Promise.race([this.#sweeping.then(() => this.#sweep(removalsAtOnce)), this.#settings.clock.sleep(1_000, late.signal)]);
    late.abort();
  }

  async #keepSweeping(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.#settings.clock.sleep(sweepMs, this.#stopped.signal);
      if (!this.#stopped.signal.aborted) await this.#sweep(1);
    }
  }

  /** A few at a time, so that no message waits behind all of them. */
  async #sweep(atOnce: number): Promise<void> {
    const partitions = [...this.#marks.keys()].values();
    const worker = async (): Promise<void> => {
      for (const partition of partitions) {
        const mark = this.#marks.get(partition);
        if (mark !== undefined) await this.#purge(partition, mark);
      }
    };
    await Promise.all([...Array(atOnce)].map(worker));
  }

  async #purge(partition: number, mark: Mark): Promise<void> {
    const { manager, stream, filterOf, isConnected } = this.#settings;
    if (!isConnected()) return;
    try {
      await manager.streams.purge(stream, { filter: filterOf(partition), seq: mark.seq + 1 });
      // What was noted meanwhile is for the next time.
      if (this.#marks.get(partition) === mark) this.#marks.delete(partition);
      this.#failure = '';
    } catch (error) {
      this.#failure = errorMessage(error);
    }
  }
}
