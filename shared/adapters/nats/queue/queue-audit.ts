import type { JetStreamManager } from '@nats-io/jetstream';
import { partitionConsumer } from '../../../wire/topology.ts';

/** Looks at a queue from the broker's side, for what a member cannot see: no consumer at all, or messages that nobody asks for. */
export class QueueAudit {
  readonly #manager: JetStreamManager;
  readonly #stream: string;
  readonly #partitions: number;
  #unattended: ReadonlySet<number> = new Set();
  #findings: readonly string[] = [];

  constructor(manager: JetStreamManager, stream: string, partitions: number) {
    this.#manager = manager;
    this.#stream = stream;
    this.#partitions = partitions;
  }

  /** What was wrong at the last look. */
  get findings(): readonly string[] {
    return this.#findings;
  }

  /** Resolves with the partitions whose messages nobody asks for just now. Never rejects. */
  async look(): Promise<ReadonlySet<number>> {
    const numberByName = new Map([...Array(this.#partitions).keys()].map((number) => [partitionConsumer(number), number]));
    const unattended = new Set<number>();
    try {
      for await (const info of this.#manager.consumers.list(this.#stream)) {
        const number = numberByName.get(info.name);
        if (number === undefined) continue;
        numberByName.delete(info.name);
        if (info.num_pending > 0 && info.num_waiting === 0 && info.num_ack_pending === 0) unattended.add(number);
      }
    } catch {
      return new Set(); // Not to be told now; what the member itself sees is in its problems already.
    }
    const missing = [...numberByName.values()];
    // Between two requests nobody asks for a moment, so only the second time in a row counts.
    const neglected = [...unattended].filter((number) => this.#unattended.has(number));
    this.#unattended = unattended;
    this.#findings = [
      ...(missing.length === 0 ? [] : [`${this.#stream} lacks the consumers of ${listOf(missing)}`]),
      ...(neglected.length === 0 ? [] : [`${this.#stream}: nobody asks for the messages of ${listOf(neglected)}`]),
    ];
    return unattended;
  }
}

/** Partitions as text, some of many. */
export const listOf = (partitions: readonly number[]): string => {
  const shown = partitions.length <= 8 ? partitions : [...partitions.slice(0, 8), '…'];
  return `${partitions.length} partitions (${shown.join(', ')})`;
};
