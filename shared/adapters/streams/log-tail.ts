import { isErasure } from '../../domain/session/chain.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import { limits } from '../../kit/limits.ts';
import type { FollowedLog, Wake, WakeUps } from './follow.ts';
import type { MessageBatch, StoredMessage } from './stored-message.ts';

/** Messages of the end of the log that a process keeps for its followers, and bytes of them. */
const tailCommits = 1_000;
const tailBytes = 4 * 1024 * 1024;

export interface LogTailOptions {
  /** Bounds of what is kept: messages, and bytes of them. */
  readonly commits?: number;
  readonly bytes?: number;
  /** Off: every follower reads by itself. For tests. Default: on. */
  readonly shares?: boolean;
}

/** A read of what comes after the end of the tail. `hinted`: the greatest announced sequence when it began. */
interface Reading {
  readonly hinted: number;
  readonly done: Promise<MessageBatch>;
}

/** How old a look that found nothing may be to serve another follower too, ms: those that one hint woke look again at about the same time. */
const sameLookMs = 50;

/**
 * The newest messages of the log, read once for all followers of a process, and each decoded once (ADR 24). It pulls nothing by itself: a
 * follower asks for what comes after its position and gets it from here if it is here; at the end of the tail all who ask share one read, and
 * what that brings is kept, within bounds. A follower that is behind these reads by itself until it has caught up. So each keeps its own
 * position and pace, none waits for another, and since both ways answer the same question none is skipped or repeated where they meet.
 */
export class LogTail {
  readonly #commits: number;
  readonly #bytes: number;
  readonly #shares: boolean;
  readonly #hints = new SharedWakeUps();
  readonly #decoded = new WeakMap<StoredMessage, RecordedCommit>();
  /** Digests of the newest commits that this process has stored, by sequence, until they are read. */
  readonly #own = new Map<number, string>();
  /** All that the log has after `#floor`, up to `#end`, oldest first. */
  #messages: StoredMessage[] = [];
  #size = 0;
  #floor = 0;
  #end = -1;
  /** The log has more after `#end`. */
  #more = false;
  #reading: Reading | null = null;
  /** How often it began again: a read from before is not kept. */
  #life = 0;
  /** Who found nothing after the end, and when they asked. */
  #nothing: { readonly by: FollowedLog; readonly at: number } | null = null;

  constructor({ commits = tailCommits, bytes = tailBytes, shares = true }: LogTailOptions = {}) {
    this.#commits = commits;
    this.#bytes = bytes;
    this.#shares = shares;
  }

  /** The same log, read through this tail; one that is filtered by the broker is left as it is. */
  join(log: FollowedLog): FollowedLog {
    if (!this.#shares || !log.whole) return log;
    return {
      ...log,
      batch: (after) => this.#batch(after, log),
      wakeUps: (wake) => this.#hints.join(log, wake),
      commitOf: (message) => this.#commitOf(message, log),
      distrust: () => this.#forget(),
    };
  }

  /** This process has stored a commit: its followers read it at once, and not when the broker has brought the hint back. */
  wrote(seq: number, digest: string): void {
    this.#own.set(seq, digest);
    const [oldest = seq] = this.#own.keys();
    if (this.#own.size > this.#commits) this.#own.delete(oldest);
    this.#hints.wrote(seq);
  }

  /** True if all that follows `after` is kept, or the next read at the end brings it. */
  protected covers(after: number, floor: number): boolean {
    return after >= floor;
  }

  /** The kept messages after a sequence. */
  protected since(messages: readonly StoredMessage[], after: number): readonly StoredMessage[] {
    let first = messages.length;
    while (first > 0 && (messages[first - 1]?.seq ?? 0) > after) first -= 1;
    return messages.slice(first, first + limits.readCommits);
  }

  async #batch(after: number, log: FollowedLog): Promise<MessageBatch> {
    // Whoever is ahead of all others takes the tail along.
    if (after > this.#end) this.#forget(after);
    while (after === this.#end) {
      const reading = this.#reading;
      if (reading === null) return this.#wasEmptyFor(log) ? { messages: [], more: false } : this.#read(after, log);
      try {
        await reading.done;
      } catch {
        // What failed for one may work for another: each has a connection of its own.
        return log.batch(after);
      }
      // A read that began before the newest commit was announced may have missed it.
      if (after === this.#end && reading.hinted >= this.#hints.latest()) return { messages: [], more: this.#more };
    }
    const isKept = after < this.#end && this.covers(after, this.#floor);
    const messages = isKept ? this.since(this.#messages, after) : [];
    if (messages.length === 0) return log.batch(after);
    return { messages, more: this.#more || (messages.at(-1)?.seq ?? this.#end) < this.#end };
  }

  /** Reads on at the end of the tail; whoever asks for the same meanwhile waits for this. */
  #read(after: number, log: FollowedLog): Promise<MessageBatch> {
    const [hinted, at, life] = [this.#hints.latest(), log.clock.monotonic(), this.#life];
    const read = async (): Promise<MessageBatch> => {
      try {
        const batch = await log.batch(after);
        if (life !== this.#life) return batch;
        this.#take(batch);
        this.#nothing = batch.messages.length === 0 ? { by: log, at } : null;
        return batch;
      } finally {
        if (life === this.#life) this.#reading = null;
      }
    };
    const done = read();
    this.#reading = { hinted, done };
    return done;
  }

  /** True if another follower has just looked and found nothing, and nothing was announced since. */
  #wasEmptyFor(log: FollowedLog): boolean {
    const nothing = this.#nothing;
    if (nothing === null || nothing.by === log || this.#more) return false;
    return log.clock.monotonic() - nothing.at < sameLookMs && this.#hints.latest() <= this.#end;
  }

  #take({ messages, more }: MessageBatch): void {
    this.#more = more;
    for (const message of messages) {
      this.#messages.push(message);
      this.#size += message.data.length;
      this.#end = message.seq;
    }
    while (this.#messages.length > this.#commits || this.#size > this.#bytes) {
      const oldest = this.#messages.shift();
      if (oldest === undefined) break;
      this.#size -= oldest.data.length;
      this.#floor = oldest.seq;
    }
  }

  /** Begins again after a sequence, or wherever the next one who asks stands. */
  #forget(after = -1): void {
    this.#life += 1;
    [this.#messages, this.#size, this.#floor, this.#end] = [[], 0, after, after];
    [this.#more, this.#reading, this.#nothing] = [false, null, null];
  }

  /** `null`: not a commit; each follower reports that itself. */
  #commitOf(message: StoredMessage, log: FollowedLog): RecordedCommit | null {
    const known = this.#decoded.get(message);
    if (known !== undefined) return known;
    const commit = log.commitOf(message, this.#own.get(message.seq));
    this.#own.delete(message.seq);
    if (commit === null) return null;
    this.#decoded.set(message, commit);
    if (isErasure(commit)) this.#erase(commit, log);
    return commit;
  }

  /** Erased commits must not be handed out from here either (C9). */
  #erase({ key, seq }: RecordedCommit, log: FollowedLog): void {
    this.#messages = this.#messages.filter((message) => message.seq >= seq || log.keyOf(message) !== key);
    this.#size = this.#messages.reduce((sum, { data }) => sum + data.length, 0);
  }
}

/** One subscription to hints for all followers: that of the first of them, and when it ends that of the next. */
class SharedWakeUps {
  readonly #followers = new Map<FollowedLog, Wake>();
  #source: { readonly of: FollowedLog; readonly hints: WakeUps } | null = null;
  #latest = 0;
  readonly #wakeAll: Wake = (isHint = false) => {
    const known = this.#latest;
    if (isHint && this.latest() <= known) return;
    for (const wake of this.#followers.values()) wake();
  };

  /** The greatest announced sequence, 0 if none. */
  readonly latest = (): number => {
    this.#latest = Math.max(this.#latest, this.#source?.hints.latest() ?? 0);
    return this.#latest;
  };

  wrote(seq: number): void {
    if (seq <= this.#latest) return;
    this.#latest = seq;
    this.#wakeAll();
  }

  join(log: FollowedLog, wake: Wake): WakeUps {
    this.#followers.set(log, wake);
    this.#source ??= { of: log, hints: log.wakeUps(this.#wakeAll) };
    return { latest: this.latest, stop: () => this.#leave(log) };
  }

  #leave(log: FollowedLog): void {
    this.#followers.delete(log);
    const left = this.#source;
    if (left?.of !== log) return;
    this.latest();
    const [next] = this.#followers.keys();
    this.#source = next === undefined ? null : { of: next, hints: next.wakeUps(this.#wakeAll) };
    left.hints.stop();
    // Between the two a hint may have been lost.
    this.#wakeAll();
  }
}
