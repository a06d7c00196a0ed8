import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { type HistoryGap, isErasure } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { hasCode, NatterError } from '../../../shared/kit/errors.ts';
import { HealthProblem } from '../../../shared/kit/health-problem.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import { waitForReplica } from '../../../shared/kit/wait-for-replica.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { LogFollower } from '../../../shared/runtime/log-follower.ts';

/** Minimum time between two reads of the feed, ms: a little latency for much less work under load. */
const feedPauseMs = 2;
const retries = { firstMs: 500, mostMs: 500 };
/** Commits asked for at once while a reader catches up. */
const catchUpCommits = 64;

type Hearer = (commit: RecordedCommit | null) => void;

/** Where one reader waits for the next commit. */
class CommitWaiter {
  #heard: ((commit: RecordedCommit | null) => void) | undefined;

  /** The next commit; `null` when there will be none. */
  next(): Promise<RecordedCommit | null> {
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  wake(commit: RecordedCommit | null): void {
    this.#heard?.(commit);
    this.#heard = undefined;
  }
}

/**
 * One subscription to the log per process, shared by any number of readers. Readers pull: recent commits come from a bounded shared buffer,
 * older ones from the log itself. A slow reader costs no memory, and no commit is skipped or repeated.
 */
export class EventFeed {
  readonly #events: EventLog;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #seen: (commit: RecordedCommit) => void;
  readonly #closing = new AbortController();
  readonly #waiters = new Map<SessionKey | '*', Set<CommitWaiter>>();
  readonly #hearers = new Map<SessionKey, Set<Hearer>>();
  readonly #gaps = new WeakMap<RecordedCommit, HistoryGap>();
  readonly #running: Promise<void>;
  /** Number of commits in front of which others are lost. */
  damaged = 0;
  /** The last commits, oldest first: all of the log after `#floor`. */
  #recent: RecordedCommit[] = [];
  #characters = 0;
  #floor: number | null = null;
  #position = 0;
  /** The failure that was logged since the last commit came. */
  #told: string | null = null;
  #problem: HealthProblem | null = new HealthProblem('starting', 'event feed: the event log has not answered yet');

  /** `seen` is told of each commit as it comes. */
  constructor(events: EventLog, clock: Clock, log: Logger, seen: (commit: RecordedCommit) => void = () => {}) {
    this.#seen = seen;
    this.#events = events;
    this.#clock = clock;
    this.#log = log;
    this.#running = this.#run();
  }

  /** Sequence of the last commit seen: "now". Throws `NatterError('unavailable')` before the log has answered. */
  get position(): number {
    if (this.#floor === null) throw new NatterError('unavailable', 'the event log has not answered yet');
    return this.#position;
  }

  /** What is lost in front of a commit that came while this process was running. */
  gapBefore(commit: RecordedCommit): HistoryGap | null {
    return this.#gaps.get(commit) ?? null;
  }

  problems(): readonly HealthProblem[] {
    return this.#problem === null ? [] : [this.#problem];
  }

  /** Commits after a sequence, history first and then live, of one key or all, until the signal aborts or the feed closes. */
  async *follow(options: { after: number; key?: SessionKey; signal: AbortSignal }): AsyncGenerator<RecordedCommit, void> {
    const { key, signal } = options;
    const waiter = this.#hang(key ?? '*');
    const stop = () => waiter.wake(null);
    signal.addEventListener('abort', stop, { once: true });
    try {
      let position = options.after;
      while (!signal.aborted && !this.#closing.signal.aborted) {
        const seen = this.position;
        if (this.#floor === null || position < this.#floor) {
          position = yield* this.#catchUp(position, key, signal);
          continue;
        }
        const fresh = this.#since(position, key);
        if (fresh.length === 0) {
          // No commit can arrive between this check and the wait: both run in one step.
          const commit = await waiter.next();
          if (commit) position = Math.max(position, commit.seq - 1);
        } else {
          // Not `yield*`, which makes five promises of each.
          for (const commit of fresh) yield commit;
          position = Math.max(position, seen);
        }
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#takeDown(key ?? '*', waiter);
    }
  }

  /**
   * Calls `hearer` with each commit of a key that comes from now on, and with `null` when none will come any more, until the function is called
   * that this returns. Costs much less than `follow`, which can also begin in the past. Throws as `position`.
   */
  hear(key: SessionKey, hearer: Hearer): () => void {
    void this.position;
    const hearers = this.#hearers.get(key) ?? new Set();
    this.#hearers.set(key, hearers.add(hearer));
    return () => {
      hearers.delete(hearer);
      if (hearers.size === 0) this.#hearers.delete(key);
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const hearers of this.#hearers.values()) for (const hearer of hearers) hearer(null);
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.wake(null);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const start = async (): Promise<number> => (await this.#events.info()).lastSeq;
    const follower = new LogFollower({ events: this.#events, start, readPauseMs: feedPauseMs });
    await follower.runResuming(signal, (commit, gap) => this.#take(commit, gap), {
      clock: this.#clock,
      retries,
      reading: () => {
        if (this.#floor === null) this.#floor = this.#position = follower.position;
        this.#problem = null;
      },
      failed: (error) => {
        const found = HealthProblem.ofWork('event feed', error);
        const isStarting = this.#floor === null && found.code === 'work_stalled';
        this.#problem = isStarting ? new HealthProblem('starting', found.message) : found;
        if (found.message !== this.#told) this.#log.warn({ err: error }, 'event feed interrupted; it will be taken up again');
        this.#told = found.message;
      },
    });
  }

  #take(commit: RecordedCommit, gap: HistoryGap | null): void {
    if (gap !== null) {
      this.#gaps.set(commit, gap);
      this.damaged += 1;
    }
    this.#seen(commit);
    if (isErasure(commit)) this.#forget(commit.key);
    this.#recent.push(commit);
    this.#characters += charactersOf(commit);
    this.#position = commit.seq;
    this.#told = null;
    while (this.#recent.length > limits.feedCommits || this.#characters > limits.feedCharacters) {
      const oldest = this.#recent.shift();
      if (oldest === undefined) break;
      this.#characters -= charactersOf(oldest);
      this.#floor = oldest.seq;
    }
    for (const hearer of this.#hearers.get(commit.key) ?? []) hearer(commit);
    this.#announce(commit.key, commit);
    this.#announce('*', commit);
  }

  /** Erased commits must not be handed out from the buffer either (C9): readers continue after the gap. */
  #forget(key: SessionKey): void {
    this.#recent = this.#recent.filter((commit) => commit.key !== key);
    this.#characters = this.#recent.reduce((sum, commit) => sum + charactersOf(commit), 0);
  }

  /** One reader after the other: each flushes its writes before the next one starts. */
  #announce(group: SessionKey | '*', commit: RecordedCommit): void {
    for (const waiter of this.#waiters.get(group) ?? []) setImmediate(() => waiter.wake(commit));
  }

  #hang(group: SessionKey | '*'): CommitWaiter {
    const waiters = this.#waiters.get(group) ?? new Set();
    const waiter = new CommitWaiter();
    this.#waiters.set(group, waiters.add(waiter));
    return waiter;
  }

  #takeDown(group: SessionKey | '*', waiter: CommitWaiter): void {
    const waiters = this.#waiters.get(group);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(group);
  }

  #since(position: number, key: SessionKey | undefined): RecordedCommit[] {
    let first = this.#recent.length;
    while (first > 0 && (this.#recent[first - 1]?.seq ?? 0) > position) first -= 1;
    const fresh = this.#recent.slice(first);
    return key === undefined ? fresh : fresh.filter((commit) => commit.key === key);
  }

  /** Reads from the log what the shared buffer no longer has. Returns the position up to which the reader is now complete. */
  async *#catchUp(after: number, key: SessionKey | undefined, signal: AbortSignal): AsyncGenerator<RecordedCommit, number> {
    const seen = this.position;
    // For one key the leader knows the end, so that a lagging replica cannot hide it.
    const end = key === undefined ? seen : await this.#endOf(key);
    const target = end ?? seen;
    let position = after;
    for (let empty = 0; position < target && !signal.aborted; ) {
      const { commits } = await orQuarantined(this.#events.page({ after: position, limit: catchUpCommits, ...(key && { key }) }));
      for (const commit of commits) {
        yield commit;
        position = commit.seq;
      }
      empty = commits.length === 0 ? empty + 1 : 0;
      if (empty > 0 && !(await waitForReplica(this.#clock, empty, signal))) break;
    }
    if (end === null && !signal.aborted && key !== undefined) await this.#events.last(key);
    return Math.max(position, seen);
  }

  /** `null`: the last commit cannot be read; the stream ends with that error once it has handed out what can. */
  async #endOf(key: SessionKey): Promise<number | null> {
    try {
      return (await this.#events.last(key))?.seq ?? 0;
    } catch (error) {
      if (hasCode(error, 'damaged')) return null;
      throw error;
    }
  }
}

/** Approximate size of a commit: its texts and an allowance for the rest. */
const charactersOf = ({ events }: RecordedCommit): number =>
  events.reduce((sum, event) => {
    const text = event.type === 'user_message' ? event.message.text : 'text' in event ? event.text : '';
    return sum + text.length + 512;
  }, 0);
