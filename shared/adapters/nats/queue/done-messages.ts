import type { JetStreamManager } from '@nats-io/jetstream';
import type { Clock } from '../../../kit/clock.ts';
import { errorMessage } from '../../../kit/errors.ts';
import { HealthProblem } from '../../../kit/health-problem.ts';
import { limits } from '../../../kit/limits.ts';
import { isGone } from '../client/broker-errors.ts';

export interface DoneMessagesSettings {
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly clock: Clock;
  /** The subject filter of a partition's stored messages. */
  filterOf(partition: number): string;
  isConnected(): boolean;
}

/** One partition may remove everything up to `seq`. */
interface Mark {
  readonly seq: number;
  readonly messages: number;
}

const sweepMs = 2_000;
const removalsAtOnce = 8;

/**
 * Removes completed messages from a stream that keeps everything (ADR 9), many at a time. Only our own acknowledgements say what
 * may go: a partition's messages are handled in order, so everything up to the last acknowledged one has been acknowledged or
 * removed. A removal with a sequence of an earlier life of the stream finds nothing, since sequences only rise (`sequencesRise`).
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

  /** Notes a message that is acknowledged and harmless if delivered again: it is removed soon, together with others. */
  note(partition: number, seq: number): void {
    const before = this.#marks.get(partition);
    this.#marks.set(partition, { seq: Math.max(seq, before?.seq ?? 0), messages: (before?.messages ?? 0) + 1 });
  }

  /** Removes one message now, before it is acknowledged. False when the broker does not confirm it. */
  async removeNow(seq: number): Promise<boolean> {
    const { manager, stream, isConnected } = this.#settings;
    if (!isConnected()) return false;
    try {
      // Not a purge: after a purge that removed a delivered message, the broker delivers nothing newer.
      return await manager.streams.deleteMessage(stream, seq, false);
    } catch (error) {
      return isGone(error);
    }
  }

  /** The stream may be another one, or an older copy. What remains is removed with later messages. */
  forget(): void {
    this.#marks.clear();
  }

  problems(): readonly HealthProblem[] {
    const messages = [...this.#marks.values()].reduce((sum, mark) => sum + mark.messages, 0);
    if (messages <= limits.doneMessages) return [];
    const reason = this.#failure || 'the broker is slow';
    return [new HealthProblem('work_stalled', `${this.#settings.stream} still holds ${messages} completed messages: ${reason}`)];
  }

  /** Removes what it can within a second. What remains does no harm. */
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

  /** A few at a time, so that no delivery waits behind all of them. */
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
      // A newer mark is left for the next sweep.
      if (this.#marks.get(partition) === mark) this.#marks.delete(partition);
      this.#failure = '';
    } catch (error) {
      this.#failure = errorMessage(error);
    }
  }
}
