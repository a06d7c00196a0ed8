import type { NatsConnection } from '@nats-io/transport-node';
import type { Commit } from '../../../domain/session/envelope.ts';
import { headlineOf } from '../../../domain/session/headline.ts';
import type { Clock } from '../../../kit/clock.ts';
import { errorMessage } from '../../../kit/errors.ts';
import type { AppendResult } from '../../../ports/event-log.ts';
import { cloudEventHeaders } from '../../../wire/cloudevents.ts';
import { digestOf, encodeCommit } from '../../../wire/codec.ts';
import type { Subjects } from '../../../wire/subjects.ts';
import { type Grouping, ungrouped } from '../../streams/group-commit.ts';
import { type BrokerFailure, failureOf } from '../client/broker-errors.ts';
import type { ReplyInbox } from '../client/reply-inbox.ts';
import { onlyAfter } from '../client/send-once.ts';
import { AtomicPublisher, type StreamMessage } from '../publish/atomic-publisher.ts';

export interface CommitWriterOptions {
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
  /** When commits are stored in groups. Default: never. */
  readonly grouping?: Grouping;
  /** Called with how each append ended; `null`: it was stored. */
  readonly wrote?: (failure: BrokerFailure | null) => void;
  /** Called with the sequence of each commit that is stored, and the digest of what was sent. */
  readonly stored?: (seq: number, digest: string) => void;
}

/** Appends commits to the event stream: one message is one commit, fenced by the last sequence of its key, also in a batch (F3). */
export class CommitWriter {
  readonly #options: CommitWriterOptions;
  readonly #publisher: AtomicPublisher;

  constructor(options: CommitWriterOptions, inbox: ReplyInbox) {
    const { clock, requestTimeoutMs: timeoutMs, grouping = ungrouped } = options;
    this.#options = options;
    this.#publisher = new AtomicPublisher({ inbox, clock, timeoutMs, grouping });
  }

  /** See `EventLog.append`. */
  async append(commit: Commit, expectedSeq: number): Promise<AppendResult> {
    const { wrote } = this.#options;
    let message: StreamMessage;
    try {
      message = this.#messageOf(commit, expectedSeq);
    } catch (error) {
      return { kind: 'refused', message: errorMessage(error) };
    }
    try {
      const { seq, duplicate } = await this.#publisher.publish(message);
      const digest = digestOf(message.payload);
      this.#options.stored?.(seq, digest);
      this.#notifyFollowers(message.subject, seq);
      // Recognised by its id only: what is stored may have another digest, such as that of a try with another trace.
      if (duplicate) return { kind: 'unknown', cause: `the broker has commit ${commit.id} already, as ${seq}` };
      wrote?.(null);
      return { kind: 'stored', seq, digest };
    } catch (error) {
      wrote?.(failureOf(error));
      return appendFailure(error);
    }
  }

  /** All values of headers are escaped or our own. */
  #messageOf(commit: Commit, expectedSeq: number): StreamMessage {
    const { subjects } = this.#options;
    const payload = encodeCommit(commit);
    const attributes = cloudEventHeaders(commit);
    return {
      key: commit.key,
      bytes: payload.length,
      subject: subjects.event(headlineOf(commit.events), commit.key),
      payload,
      headers: {
        'Nats-Msg-Id': attributes['ce-id'] ?? '',
        ...onlyAfter(subjects.eventsOf(commit.key), expectedSeq),
        ...attributes,
      },
    };
  }

  /** Notifies the followers of other processes, of each commit by its own subject. Best effort: they also check once a second. */
  #notifyFollowers(subject: string, seq: number): void {
    const { connection, subjects } = this.#options;
    if (!connection.isClosed()) connection.publish(subjects.stored(subject), String(seq));
  }
}

/**
 * Only a commit that can never be stored is refused. A missing stream may come back with the commit in it, and a full one may get
 * more room.
 */
const appendFailure = (error: unknown): AppendResult => {
  const failure = failureOf(error);
  if (failure === 'too_large') return { kind: 'refused', message: errorMessage(error) };
  return { kind: 'unknown', cause: `${failure}: ${errorMessage(error)}` };
};
