import { JetStreamApiError } from '@nats-io/jetstream';
import { nuid } from '@nats-io/transport-node';
import { assert } from '../../../kit/assert.ts';
import type { Clock } from '../../../kit/clock.ts';
import { GroupCommit, type GroupedWrite, type Grouping } from '../../streams/group-commit.ts';
import { failureOf } from '../client/broker-errors.ts';
import type { ReplyInbox, Stored } from '../client/reply-inbox.ts';

/** What is published to a stream. */
export interface Publication {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** Not validated: values from outside must be escaped. */
  readonly headers: Readonly<Record<string, string>>;
}
/** One that may go together with others. */
export interface StreamMessage extends GroupedWrite, Publication {}

export interface AtomicPublisherOptions {
  readonly inbox: ReplyInbox;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timeoutMs: number;
  readonly grouping: Grouping;
}

/**
 * How many messages must wait for a batch to be worth it, and how many are under way without. A single server writes each batch to files of
 * its own first, which takes 2 ms; three servers keep it in memory (ADR 23).
 */
export const groupingOf = (replicas: number): Grouping => (replicas > 1 ? { from: 3, singles: 4 } : { from: 16, singles: 8 });

/** Publishes to one stream; messages that wait go as one atomic batch, each with its own conditions. */
export class AtomicPublisher {
  readonly #options: AtomicPublisherOptions;
  readonly #commits: GroupCommit<StreamMessage, Stored>;

  constructor(options: AtomicPublisherOptions) {
    this.#options = options;
    this.#commits = new GroupCommit({
      clock: options.clock,
      grouping: options.grouping,
      soon: setImmediate,
      alone: () => options.inbox.flush(),
      one: ({ subject, payload, headers }) =>
        options.inbox.ask<Stored>(subject, payload, { timeoutMs: options.timeoutMs, headers }),
      together: (messages) => this.#together(messages),
    });
  }

  /** Rejects with the client's error. */
  publish(message: StreamMessage): Promise<Stored> {
    return this.#commits.write(message);
  }

  async #together(messages: readonly StreamMessage[]): Promise<readonly Stored[] | 'refused' | 'impossible'> {
    const { inbox, timeoutMs } = this.#options;
    try {
      const { seq } = await publishTogether(inbox, messages, timeoutMs);
      return messages.map((_, index) => ({ seq: seq - messages.length + 1 + index }));
    } catch (error) {
      const failure = failureOf(error);
      if (failure === 'unsupported') return 'impossible';
      const isAnswer = error instanceof JetStreamApiError && failure !== 'unavailable';
      // Too large for the client: the last message, and so the batch, has not been sent.
      if (isAnswer || failure === 'too_large') return 'refused';
      throw error;
    }
  }
}

/**
 * All of these messages or none, and resolves with the place of the last. Without waiting for an answer to the first message, so that a batch
 * is open at the broker only while it arrives: 50 may be. Rejects with the client's error.
 */
export const publishTogether = async (
  inbox: ReplyInbox,
  messages: readonly Publication[],
  timeoutMs: number,
): Promise<Stored> => {
  const batch = nuid.next();
  const numbered = messages.map(({ subject, payload, headers }, index) => {
    const place = { 'Nats-Batch-Id': batch, 'Nats-Batch-Sequence': String(index + 1) };
    return { subject, payload, headers: { ...headers, ...place } };
  });
  const last = numbered.pop();
  assert(last !== undefined, 'a batch has at least one message');
  for (const { subject, payload, headers } of numbered) inbox.tell(subject, payload, headers);
  return inbox.ask<Stored>(last.subject, last.payload, { timeoutMs, headers: { ...last.headers, 'Nats-Batch-Commit': '1' } });
};
