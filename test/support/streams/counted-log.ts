import type { FollowedLog, Wake, WakeUps } from '../../../shared/adapters/streams/follow.ts';
import { followLog } from '../../../shared/adapters/streams/follow.ts';
import type { LogTail } from '../../../shared/adapters/streams/log-tail.ts';
import type { MessageBatch, StoredMessage } from '../../../shared/adapters/streams/stored-message.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { VirtualClock } from '../../sim/world/virtual-clock.ts';
import { commitTo, keyOf, recorded } from '../domain/commits.ts';
import { deleted } from '../memories.ts';

/** What a message says: which key, and whether it is a commit, an erasure or neither. */
export interface Written {
  readonly key: number;
  readonly kind: 'commit' | 'erasure' | 'bad';
}

/** A log of which every read is counted, which may lag or fail, and followers that take one commit at a time. */
export class CountedLog {
  readonly clock = new VirtualClock(0);
  readonly messages: StoredMessage[] = [];
  /** Position and follower of each read of the log. */
  readonly reads: { readonly by: string; readonly after: number }[] = [];
  /** Messages that a replica does not have yet. */
  lag = 0;
  /** The followers whose reads fail. */
  readonly failing = new Set<string>();
  /** Decoded messages, and bad ones by the follower they were reported to. */
  decoded = 0;
  /** For each decoded message, the digest that was known of it. */
  readonly own: (string | undefined)[] = [];
  readonly bad: { readonly by: string; readonly seq: number }[] = [];
  subscriptions = 0;
  /** Hints come when `hint` is called, not with each message. */
  delaysHints = false;
  readonly #written: Written[] = [];
  readonly #watchers = new Set<{ readonly wake: Wake; latest: number }>();
  /** Messages of one read at most. */
  readonly #readMessages: number;

  constructor(readMessages = 4) {
    this.#readMessages = readMessages;
  }

  write(written: Written = { key: 0, kind: 'commit' }): void {
    const seq = this.messages.length + 1;
    this.#written.push(written);
    this.messages.push({ subject: `event.${written.key}`, seq, time: 0, data: new Uint8Array(10) });
    if (!this.delaysHints) this.hint();
  }

  /** Announces the last message. */
  hint(): void {
    for (const watcher of this.#watchers) {
      watcher.latest = this.messages.length;
      watcher.wake(true);
    }
  }

  /** Wakes everybody, as a connection does that was lost. */
  reconnect(): void {
    for (const { wake } of this.#watchers) wake();
  }

  /** Sequences of all commits. */
  seqs(): number[] {
    return this.#written.flatMap(({ kind }, at) => (kind === 'bad' ? [] : [at + 1]));
  }

  /** The log as one follower sees it. */
  as(by: string): FollowedLog {
    return {
      clock: this.clock,
      whole: true,
      batch: async (after) => this.#batch(by, after),
      view: async () => ({ incarnation: 1, lastSeq: this.messages.length, digest: null }),
      wakeUps: (wake) => this.#wakeUps(wake),
      wants: () => true,
      commitOf: (message, own) => {
        this.own.push(own);
        return this.#commitOf(by, message);
      },
      keyOf: ({ subject }) => keyOf(`agent:main:${subject.slice('event.'.length)}`),
      distrust: () => {},
      closed: () => false,
    };
  }

  follow(by: string, tail: LogTail, after: number): Follower {
    return new Follower(tail.join(this.as(by)), after);
  }

  async #batch(by: string, after: number): Promise<MessageBatch> {
    this.reads.push({ by, after });
    await this.clock.sleep(1);
    if (this.failing.has(by)) throw new NatterError('unavailable', 'the log is away');
    const there = this.messages.slice(0, this.messages.length - this.lag).filter(({ seq }) => seq > after);
    return { messages: there.slice(0, this.#readMessages), more: there.length > this.#readMessages };
  }

  #wakeUps(wake: Wake): WakeUps {
    const watcher = { wake, latest: 0 };
    this.subscriptions += 1;
    this.#watchers.add(watcher);
    const stop = (): void => {
      this.subscriptions -= 1;
      this.#watchers.delete(watcher);
    };
    return { latest: () => watcher.latest, stop };
  }

  #commitOf(by: string, { seq }: StoredMessage): RecordedCommit | null {
    this.decoded += 1;
    const { key = 0, kind } = this.#written[seq - 1] ?? {};
    if (kind === 'bad') {
      this.bad.push({ by, seq });
      return null;
    }
    const events = kind === 'erasure' ? { events: [deleted('erased')] } : {};
    return recorded(commitTo(keyOf(`agent:main:${key}`), { rev: seq, ...events }), seq);
  }
}

/** Takes a commit when it is told to, and remembers what it took. */
export class Follower {
  readonly after: number;
  readonly seqs: number[] = [];
  readonly #commits: AsyncGenerator<RecordedCommit, void, undefined>;
  readonly #stop = new AbortController();
  #isTaking = false;

  constructor(log: FollowedLog, after: number) {
    this.after = after;
    this.#commits = followLog(log, { after, signal: this.#stop.signal });
  }

  /** Takes the next commit as soon as there is one; waits for one only once. */
  take(): void {
    if (this.#isTaking) return;
    this.#isTaking = true;
    void this.#commits.next().then(({ value }) => {
      this.#isTaking = false;
      if (value) this.seqs.push(value.seq);
    });
  }

  /** Takes all that come from now on. */
  takeAll(): void {
    void (async () => {
      for await (const { seq } of this.#commits) this.seqs.push(seq);
    })();
  }

  stop(): void {
    this.#stop.abort();
  }
}
