import type { SessionKey } from '../../../domain/keys/session-key.ts';
import type { Commit, RecordedCommit } from '../../../domain/session/envelope.ts';
import type { EventType } from '../../../domain/session/events.ts';
import type { LogView } from '../../../domain/session/log-witness.ts';
import { assert } from '../../../kit/assert.ts';
import { NatterError } from '../../../kit/errors.ts';
import { limits } from '../../../kit/limits.ts';
import type { AppendResult, EventLog, FollowOptions, LogInfo, StoredCommit } from '../../../ports/event-log.ts';
import { digestOf } from '../../../wire/codec.ts';
import type { Subjects } from '../../../wire/subjects.ts';
import { streamNames } from '../../../wire/topology.ts';
import { followLog } from '../../streams/follow.ts';
import type { LogTail } from '../../streams/log-tail.ts';
import {
  commitOf,
  commitOrNull,
  type MessageBatch,
  type OnBad,
  type StoredMessage,
  storedCommit,
} from '../../streams/stored-message.ts';
import { failureOf, orNatterError, toNatterError } from '../client/broker-errors.ts';
import { type FencedMessage, isStrayAnswer, nothing, readBatch, readOne } from '../client/direct-read.ts';
import { ReplyInbox } from '../client/reply-inbox.ts';
import { incarnationOf } from '../stream-config.ts';
import { CommitWriter, type CommitWriterOptions } from './commit-writer.ts';
import { followedStream } from './follow.ts';
import { readBack } from './read-back.ts';

export interface NatsEventLogOptions extends CommitWriterOptions {
  /** Called for each message that `page` and `follow` skip because it is not a commit. */
  readonly onBad?: OnBad;
  /** What the followers of this process read together. */
  readonly tail: LogTail;
}

/** The event log in a JetStream stream: one message is one commit, fenced by the last sequence of its key (F3). */
export class NatsEventLog implements EventLog {
  readonly #options: NatsEventLogOptions;
  readonly #subjects: Subjects;
  readonly #stream: string;
  readonly #inbox: ReplyInbox;
  readonly #writer: CommitWriter;
  readonly #timeoutMs: number;
  readonly #onBad: OnBad;

  constructor(options: NatsEventLogOptions) {
    this.#options = options;
    this.#subjects = options.subjects;
    this.#stream = streamNames(options.subjects.prefix).events;
    this.#inbox = new ReplyInbox(options.connection);
    this.#writer = new CommitWriter({ ...options, stored: (seq, digest) => options.tail.wrote(seq, digest) }, this.#inbox);
    this.#timeoutMs = options.requestTimeoutMs;
    this.#onBad = options.onBad ?? (() => {});
  }

  append(commit: Commit, expectedSeq: number): Promise<AppendResult> {
    return this.#writer.append(commit, expectedSeq);
  }

  /** To the broker a message whose checksum is wrong does not exist, but it still counts: unreadable is not empty (F13). */
  async last(key: SessionKey): Promise<RecordedCommit | null> {
    const query = { last_by_subj: this.#subjects.eventsOf(key) };
    // Twice: another host may have stored the first commit in between.
    for (let looks = 0; looks < 2; looks++) {
      const message = await this.#leaderMessage(query, `read the last commit of ${key}`);
      if (message !== null) return commitOf(message, this.#subjects);
      if ((await this.count(key)) === 0) return null;
    }
    throw new NatterError(
      'damaged',
      `the last commit of ${key} is stored, but the broker cannot read it; see "natter repair ${key}"`,
    );
  }

  async newest(headline: EventType): Promise<StoredCommit | null> {
    const query = { last_by_subj: this.#subjects.eventsUnder(headline) };
    const message = await this.#leaderMessage(query, `read the newest ${headline}`);
    return message && storedCommit(message, this.#subjects);
  }

  async count(key: SessionKey): Promise<number> {
    const subject = this.#subjects.eventsOf(key);
    try {
      const request = JSON.stringify({ subjects_filter: subject });
      const { state } = await this.#inbox.ask<StreamInfo>(`$JS.API.STREAM.INFO.${this.#stream}`, request, {
        timeoutMs: this.#timeoutMs,
      });
      return Object.values(state.subjects ?? {}).reduce((sum, messages) => sum + messages, 0);
    } catch (error) {
      throw toNatterError(error, `count the commits of ${key}`);
    }
  }

  async *read(key: SessionKey, options: { after?: number; upTo?: number } = {}): AsyncGenerator<RecordedCommit> {
    const { after = 0, upTo } = options;
    const forward = (from: number, to: number) => this.#forward(this.#subjects.eventsOf(key), from, to);
    const messages =
      upTo === undefined
        ? forward(after, Number.MAX_SAFE_INTEGER)
        : readBack({ one: (seq) => this.#one(seq), forward }, this.#subjects, { key, after, upTo });
    for await (const message of messages) yield commitOf(message, this.#subjects);
  }

  async *#forward(subject: string, after: number, upTo: number): AsyncGenerator<StoredMessage> {
    let position = after;
    for (let more = true; more && position < upTo; ) {
      const batch = await this.#batch(position, Math.min(upTo - position, limits.readCommits), subject);
      for (const message of batch.messages) {
        if (message.seq > upTo) return;
        position = message.seq;
        yield message;
      }
      more = batch.more;
    }
  }

  async page(options: { after: number; limit: number; key?: SessionKey }): Promise<{ commits: RecordedCommit[]; more: boolean }> {
    const subject = options.key && this.#subjects.eventsOf(options.key);
    assert(options.limit > 0, 'a page has at least one commit');
    for (let position = options.after; ; ) {
      const { messages, more } = await this.#batch(position, options.limit, subject);
      const commits = messages.flatMap((message) => commitOrNull(message, this.#subjects, this.#onBad) ?? []);
      if (commits.length > 0 || !more) return { commits, more };
      position = messages.at(-1)?.seq ?? position;
    }
  }

  async raw(options: { after: number; limit: number; key?: SessionKey }): Promise<{ messages: StoredCommit[]; more: boolean }> {
    const subject = options.key && this.#subjects.eventsOf(options.key);
    for (let position = options.after; ; ) {
      const { messages, more } = await this.#batch(position, options.limit, subject);
      const commits = messages.filter((message) => message.subject !== this.#subjects.lost);
      if (commits.length > 0 || !more) return { messages: commits.map((message) => storedCommit(message, this.#subjects)), more };
      position = messages.at(-1)?.seq ?? position;
    }
  }

  follow(options: FollowOptions): AsyncIterable<RecordedCommit> {
    const { connection, clock, tail } = this.#options;
    const source = followedStream(
      {
        ...{ connection, clock, subjects: this.#subjects, onBad: this.#onBad },
        view: (seq) => this.view(seq),
        batch: (after, subject) => this.#batch(after, limits.readCommits, subject),
      },
      options,
    );
    return followLog(tail.join(source), options);
  }

  async info(): Promise<LogInfo> {
    try {
      const found = await this.#inbox.ask<StreamInfo>(`$JS.API.STREAM.INFO.${this.#stream}`, '', { timeoutMs: this.#timeoutMs });
      return { firstSeq: found.state.first_seq, lastSeq: found.state.last_seq, incarnation: incarnationOf(found) };
    } catch (error) {
      throw toNatterError(error, `describe the stream ${this.#stream}`);
    }
  }

  async view(seq: number): Promise<LogView> {
    const [{ incarnation, lastSeq }, message] = await Promise.all([
      this.info(),
      seq === 0 ? null : this.#leaderMessage({ seq }, `read the commit ${seq}`),
    ]);
    return { incarnation, lastSeq, digest: message && digestOf(message.data) };
  }

  /** `null` if there is no such message. A stray answer is one without data: nobody has written it (ADR 19). */
  async #leaderMessage(query: { seq: number } | { last_by_subj: string }, doing: string): Promise<StoredMessage | null> {
    try {
      const { message } = await this.#inbox.ask<{ message: LeaderMessage }>(
        `$JS.API.STREAM.MSG.GET.${this.#stream}`,
        JSON.stringify(query),
        { timeoutMs: this.#timeoutMs },
      );
      const { subject, seq, time, hdrs = '', data = '' } = message;
      const header = Buffer.from(hdrs, 'base64').toString();
      const bytes = isStrayAnswer(header, 0) ? nothing : Buffer.from(data, 'base64');
      return { subject, seq, time: Date.parse(time), data: bytes };
    } catch (error) {
      if (failureOf(error) === 'empty') return null;
      throw toNatterError(error, doing);
    }
  }

  #one(seq: number): Promise<FencedMessage | null> {
    const message = readOne(this.#inbox, { stream: this.#stream, seq, timeoutMs: this.#timeoutMs });
    return orNatterError(`read the stream ${this.#stream}`, message);
  }

  async #batch(after: number, count: number, subject?: string): Promise<MessageBatch> {
    try {
      const bounded = Math.min(count, limits.pageCommits);
      const range = { after, count: bounded, ...(subject && { subject }) };
      return await readBatch(this.#inbox, { stream: this.#stream, timeoutMs: this.#timeoutMs, ...range });
    } catch (error) {
      throw toNatterError(error, `read the stream ${this.#stream}`);
    }
  }
}

interface LeaderMessage {
  readonly subject: string;
  readonly seq: number;
  readonly time: string;
  /** Base64; absent when there are none. */
  readonly hdrs?: string;
  /** Base64; absent when the message is empty. */
  readonly data?: string;
}
interface StreamInfo {
  readonly created: string;
  readonly config: { readonly metadata?: Record<string, string> };
  readonly state: {
    readonly first_seq: number;
    readonly last_seq: number;
    /** Messages by subject, if subjects were asked for. */
    readonly subjects?: Readonly<Record<string, number>>;
  };
}
