import type { JetStreamManager } from '@nats-io/jetstream';
import { type HealthCode, HealthProblem } from '../../../kit/health-problem.ts';
import { partitionConsumer } from '../../../wire/topology.ts';

/**
 * Checks a queue from the broker's side for problems that a member cannot see: missing consumers, and messages that no member
 * requests.
 */
export class QueueAudit {
  readonly #manager: JetStreamManager;
  readonly #stream: string;
  readonly #partitions: number;
  #unattended: ReadonlySet<number> = new Set();
  #findings: readonly HealthProblem[] = [];

  constructor(manager: JetStreamManager, stream: string, partitions: number) {
    this.#manager = manager;
    this.#stream = stream;
    this.#partitions = partitions;
  }

  /** The problems found by the last check. */
  get findings(): readonly HealthProblem[] {
    return this.#findings;
  }

  /** Resolves with the partitions whose messages no member is requesting at this moment. Never rejects. */
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
      return new Set(); // Unknown for now; the member's own problems already show why.
    }
    const missing = [...numberByName.values()];
    // Between two requests none is out for a moment, so only two findings in a row count.
    const neglected = [...unattended].filter((number) => this.#unattended.has(number));
    this.#unattended = unattended;
    this.#findings = [
      ...found('consumers_missing', missing, `${this.#stream} lacks the consumers of`),
      ...found('work_stalled', neglected, `${this.#stream}: no member requests the messages of`),
    ];
    return unattended;
  }
}

/** A problem of these partitions, if there are any. */
export const found = (code: HealthCode, partitions: readonly number[], message: string): HealthProblem[] =>
  partitions.length === 0 ? [] : [new HealthProblem(code, `${message} ${listOf(partitions)}`)];

/** Partition numbers as text, shortened. */
const listOf = (partitions: readonly number[]): string => {
  const shown = partitions.length <= 8 ? partitions : [...partitions.slice(0, 8), '…'];
  return `${partitions.length} partitions (${shown.join(', ')})`;
};
