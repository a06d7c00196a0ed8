import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import type { EventType } from '../../domain/session/events.ts';
import type { LogView } from '../../domain/session/log-witness.ts';
import { assert } from '../../kit/assert.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { EventLog, FollowOptions, LogInfo, StoredCommit } from '../../ports/event-log.ts';
import { subjectsUnder } from '../../wire/subjects.ts';
import { type FollowedLog, followLog, readsAll, under, type WakeUps } from '../streams/follow.ts';
import type { Grouping } from '../streams/group-commit.ts';
import { LogTail } from '../streams/log-tail.ts';
import type { MessageBatch, OnBad, StoredMessage } from '../streams/stored-message.ts';
import { commitOf, commitOrNull, keyIn, storedCommit } from '../streams/stored-message.ts';
import { arrives, type CallOutcome, type Faults, type FaultyCall, noFaults } from './faults.ts';
import { type KeptMessage, KeptMessages } from './kept-messages.ts';
import { LogWrites } from './log-writes.ts';

export interface InMemoryEventLogOptions {
  readonly clock: Clock;
  /** Whose error behaviour to simulate: a single server's or a replicated stream's (F4). */
  readonly semantics: 'R1' | 'R3';
  readonly faults?: Faults;
  /** How long a caller waits for a lost answer, in ms. Default 2,000. */
  readonly requestTimeoutMs?: number;
  readonly onBad?: OnBad;
  /** When commits are stored in groups. Default: never. */
  readonly grouping?: Grouping;
  /** See `LogWritesOptions`. Default: on. */
  readonly groupFences?: boolean;
}

const subjects = subjectsUnder('natter');

/** The event log in memory, with the broker's failure modes: commits pass through the codec, answers get lost, replicas lag. */
export class InMemoryEventLog implements EventLog {
  readonly #clock: Clock;
  readonly #replicated: boolean;
  readonly #faults: Faults;
  readonly #timeoutMs: number;
  readonly #onBad: OnBad;
  readonly #incarnation: number;
  /** The store: what a disk or an operator does to it. For tests. */
  readonly kept = new KeptMessages();
  readonly #writes: LogWrites;
  readonly append: EventLog['append'];
  readonly #decoded = new WeakMap<StoredMessage, RecordedCommit>();
  readonly #tail = new LogTail();
  readonly #watchers = new Set<(message: KeptMessage) => void>();
  /** How often every connection broke: what was on its way then is lost. For tests. */
  breaks = 0;

  constructor(options: InMemoryEventLogOptions) {
    this.#clock = options.clock;
    this.#replicated = options.semantics === 'R3';
    this.#faults = options.faults ?? noFaults;
    this.#timeoutMs = options.requestTimeoutMs ?? 2_000;
    this.#onBad = options.onBad ?? (() => {});
    this.#incarnation = Math.max(1, options.clock.now());
    this.#writes = new LogWrites({
      ...{ clock: this.#clock, faults: this.#faults, replicated: this.#replicated, timeoutMs: this.#timeoutMs, kept: this.kept },
      groupFences: options.groupFences ?? true,
      store: (headline, key, data) => this.#store(headline, key, data),
      pass: (ms) => this.#pass(ms),
      breaks: () => this.breaks,
    });
    this.append = this.writer(options.grouping);
  }

  /** Groups of several commits so far. For tests. */
  get groups(): { readonly stored: number; readonly refused: number } {
    return this.#writes.groups;
  }

  /** See `LogWrites`. */
  writer(grouping?: Grouping, turnMs?: number): EventLog['append'] {
    return this.#writes.writer(grouping, turnMs);
  }

  async last(key: SessionKey): Promise<RecordedCommit | null> {
    await this.#reach('last');
    const message = this.kept.lastOf(key);
    if (message !== undefined && !this.kept.isReadable(message))
      throw new NatterError('damaged', `the last commit of ${key} cannot be read; see "natter repair ${key}"`);
    return message === undefined ? null : this.#commitOf(message);
  }

  async newest(headline: EventType): Promise<StoredCommit | null> {
    await this.#reach('last');
    const message = this.kept.readable(0).findLast((each) => each.headline === headline);
    return message === undefined ? null : storedCommit(message, subjects);
  }

  async count(key: SessionKey): Promise<number> {
    await this.#reach('last');
    return this.kept.of(key).length;
  }

  async *read(key: SessionKey, options: { after?: number; upTo?: number } = {}): AsyncGenerator<RecordedCommit> {
    const { upTo = Number.MAX_SAFE_INTEGER } = options;
    let position = options.after ?? 0;
    for (let more = true; more && position < upTo; ) {
      const batch = await this.#batch(position, limits.readCommits, (message) => message.key === key);
      for (const message of batch.messages) {
        if (message.seq > upTo) return;
        position = message.seq;
        yield this.#commitOf(message);
      }
      more = batch.more;
    }
  }

  async page(options: { after: number; limit: number; key?: SessionKey }): Promise<{ commits: RecordedCommit[]; more: boolean }> {
    assert(options.limit > 0, 'a page has at least one commit');
    for (let position = options.after; ; ) {
      const { messages, more } = await this.#batch(position, options.limit, ({ key }) => key === (options.key ?? key));
      const commits = messages.flatMap((message) => this.#commitOrNull(message) ?? []);
      if (commits.length > 0 || !more) return { commits, more };
      position = messages.at(-1)?.seq ?? position;
    }
  }

  async raw(options: { after: number; limit: number; key?: SessionKey }): Promise<{ messages: StoredCommit[]; more: boolean }> {
    const { messages, more } = await this.#batch(options.after, options.limit, ({ key }) => key === (options.key ?? key));
    return { messages: messages.map((message) => storedCommit(message, subjects)), more };
  }

  /** `tail`: what the followers of one process read together. */
  follow(options: FollowOptions, tail: LogTail = this.#tail): AsyncIterable<RecordedCommit> {
    const { key, headlines } = options;
    const whole = readsAll(options);
    const found = (message: KeptMessage): boolean =>
      whole || ((key ?? message.key) === message.key && (headlines === undefined || headlines.includes(message.headline)));
    const log: FollowedLog = {
      clock: this.#clock,
      whole,
      batch: (after) => this.#batch(after, limits.readCommits, found),
      view: (seq) => this.view(seq),
      wakeUps: (wake) => this.#wakeUps(wake, found),
      wants: under(subjects, headlines),
      commitOf: (message) => this.#commitOrNull(message),
      keyOf: (message) => keyIn(message, subjects),
      distrust: () => {},
      closed: () => false,
    };
    return followLog(tail.join(log), options);
  }

  async info(): Promise<LogInfo> {
    await this.#reach('info');
    return { ...this.kept.ends(), incarnation: this.#incarnation };
  }

  async view(seq: number): Promise<LogView> {
    return { ...(await this.info()), digest: this.kept.digestAt(seq) };
  }

  /** Stores any bytes under a key, as a program with publish rights could. Returns their sequence. For tests. */
  storeRaw(headline: EventType, key: SessionKey, data: Uint8Array): number {
    return this.#store(headline, key, data).seq;
  }

  /** The commits stored after a sequence, regardless of faults. For tests. */
  stored(after = 0): RecordedCommit[] {
    return this.kept.readable(after).flatMap((message) => this.#commitOrNull(message) ?? []);
  }

  /** Removes a key's messages before a sequence, as the broker's purge does. Their sequences are not reused. */
  purge(key: SessionKey, before: number): number {
    return this.kept.purge(key, before);
  }

  #wakeUps(wake: () => void, found: (message: KeptMessage) => boolean): WakeUps {
    let latest = 0;
    const watcher = (message: KeptMessage): void => {
      if (!found(message)) return;
      latest = message.seq;
      wake();
    };
    this.#watchers.add(watcher);
    return { latest: () => latest, stop: () => this.#watchers.delete(watcher) };
  }

  /** Decodes each message once: a simulation reads the same commits thousands of times. */
  #commitOf(message: StoredMessage): RecordedCommit {
    const commit = this.#decoded.get(message) ?? commitOf(message, subjects);
    this.#decoded.set(message, commit);
    return commit;
  }
  #commitOrNull(message: StoredMessage): RecordedCommit | null {
    const commit = this.#decoded.get(message) ?? commitOrNull(message, subjects, this.#onBad);
    if (commit !== null) this.#decoded.set(message, commit);
    return commit;
  }

  #store(headline: EventType, key: SessionKey, data: Uint8Array): KeptMessage {
    const subject = subjects.event(headline, key);
    const message = this.kept.add({ subject, time: this.#clock.now(), data, key, headline });
    for (const watcher of this.#watchers) watcher(message);
    return message;
  }

  async #batch(after: number, count: number, wanted: (message: KeptMessage) => boolean): Promise<MessageBatch> {
    const { fault, behind } = await this.#reach('read');
    const end = this.kept.ends().lastSeq - (this.#replicated && fault === 'stale' ? behind : 0);
    const messages: KeptMessage[] = [];
    for (const message of this.kept.readable(after, Math.max(after, end))) {
      if (!wanted(message)) continue;
      if (messages.length === Math.min(count, limits.pageCommits)) return { messages, more: true };
      messages.push(message);
    }
    return { messages, more: false };
  }

  /** Simulates a read call reaching the log, or rejects with `unavailable`. */
  async #reach(call: FaultyCall): Promise<CallOutcome> {
    const fate = this.#faults.next(call);
    if (!(await this.#pass(fate.delayMs))) throw new NatterError('unavailable', 'the connection broke');
    if (arrives.has(fate.fault)) return fate;
    if (fate.fault !== 'unavailable') await this.#clock.sleep(this.#timeoutMs);
    throw new NatterError('unavailable', 'the in-memory log did not answer', { retryAfterMs: this.#timeoutMs });
  }

  /** Every message arrives later than it was sent; false: the connection broke on its way. */
  async #pass(ms: number): Promise<boolean> {
    const { breaks } = this;
    await (ms > 0 ? this.#clock.sleep(ms) : Promise.resolve());
    return breaks === this.breaks;
  }
}
