import type { RecordedCommit } from '../../domain/session/envelope.ts';
import { type LogView, type LogWitness, regression } from '../../domain/session/log-witness.ts';
import { backoffMs } from '../../kit/backoff.ts';
import type { Clock } from '../../kit/clock.ts';
import { hasCode, NatterError } from '../../kit/errors.ts';
import { Ending } from '../../kit/signal.ts';
import type { FollowOptions } from '../../ports/event-log.ts';
import type { Subjects } from '../../wire/subjects.ts';
import type { MessageBatch, StoredMessage } from './stored-message.ts';

/** Ends the rest of a follower. `isHint`: because a commit was announced, which it may know of already. */
export type Wake = (isHint?: boolean) => void;

/** Hints that something was stored. A lost hint costs a second, where nothing has come for long five; never a commit. */
export interface WakeUps {
  /** The greatest announced sequence, 0 if none. */
  latest(): number;
  stop(): void;
}

/** What following needs of a log, for one selection of keys and headlines. */
export interface FollowedLog {
  readonly clock: Clock;
  /** True when a batch has all messages of the log, and this process picks those that it wants. */
  readonly whole: boolean;
  /**
   * The messages after a sequence, oldest first and without gaps; may lag behind the leader. Rejects when the broker does not
   * answer.
   */
  batch(after: number): Promise<MessageBatch>;
  /** See `EventLog.view`. */
  view(seq: number): Promise<LogView>;
  wakeUps(wake: Wake): WakeUps;
  /** False: the message is not selected. */
  wants(message: StoredMessage): boolean;
  /** `null` if it is not a commit, which is then reported. `own`: see `decodeCommit`. */
  commitOf(message: StoredMessage, own?: string): RecordedCommit | null;
  /** The key that its subject names. */
  keyOf(message: StoredMessage): string;
  /** Called when the log may have been replaced: what was remembered of it does not count any more. */
  distrust(): void;
  /** True when the log will never answer again, because we closed it. */
  closed(): boolean;
}

/** True when these followers read the whole log: the broker filters by one key or one headline, and several headlines are picked here. */
export const readsAll = ({ key, headlines }: Pick<FollowOptions, 'key' | 'headlines'>): boolean =>
  key === undefined && headlines?.length !== 1;

/** Picks the messages under some headlines by their subject, before anything is decoded. */
export const under = (subjects: Subjects, headlines: FollowOptions['headlines']): FollowedLog['wants'] => {
  const wanted = headlines?.map((headline) => subjects.eventsUnder(headline).slice(0, -1));
  return ({ subject }) => wanted === undefined || wanted.some((start) => subject.startsWith(start));
};

/** How long to wait after a lost hint, an outage or a doubt about the log. */
const pollMs = 1_000;
/** How long at most between two reads of a log that nothing comes from: hints are only lost with a connection or a dying writer. */
const restMs = 5_000;
/** How long a message that a replica does not have yet, or that was erased, is waited for. */
const lagWaits = { firstMs: 1, mostMs: pollMs };
/** Commits stored shortly before we subscribed have no hint, and a replica may lack them, so the first polls come sooner. */
const firstIdleMs = 20;

/**
 * Yields history and then live commits, in order and without a gap, until the signal aborts (ADR 2). The position advances only
 * with received messages, so a stale, failed or interrupted read is simply repeated. Throws `log_regressed` when the log ends
 * before the position or was recreated (I13), and `unavailable` when we closed the connection.
 */
export async function* followLog(log: FollowedLog, options: FollowOptions): AsyncGenerator<RecordedCommit, void, undefined> {
  const { signal, pauseMs = 0 } = options;
  const witness = new Witness(log, options.after);
  const sleeper = new Sleeper(log.clock, signal);
  const wakeUps = log.wakeUps(() => sleeper.wake());
  let position = options.after;
  let stuckReads = 0;
  let idleMs = firstIdleMs;
  try {
    while (!signal.aborted) {
      const woken = wakeUps.latest();
      const startedAt = log.clock.monotonic();
      const batch = await readIfIntact(log, witness, position);
      for (const message of batch?.messages ?? []) {
        position = message.seq;
        const commit = log.wants(message) ? log.commitOf(message) : null;
        witness.note(position, commit?.digest ?? null);
        if (signal.aborted) return;
        if (commit !== null) yield commit;
      }
      if (batch?.more) continue;
      const behind = wakeUps.latest() > position;
      const stuck = behind && wakeUps.latest() === woken && batch?.messages.length === 0;
      // The hinted commit is not on this replica yet, or has been erased: polls again with growing delays.
      stuckReads = stuck ? stuckReads + 1 : 0;
      if (batch === null) await sleeper.sleep(pollMs);
      else if (stuck) await sleeper.sleepUnless(() => wakeUps.latest() > woken, backoffMs(lagWaits, stuckReads - 1));
      else if (!behind) {
        await sleeper.sleepUnless(() => wakeUps.latest() > position, idleMs);
        idleMs = Math.min(batch.messages.length > 0 ? pollMs : restMs, 2 * idleMs);
      }
      await sleeper.sleep(startedAt + pauseMs - log.clock.monotonic());
    }
  } finally {
    wakeUps.stop();
    sleeper.stop();
  }
}

/** `null` if the broker is away, slow or electing, or the log is in doubt. */
const readIfIntact = async (log: FollowedLog, witness: Witness, position: number): Promise<MessageBatch | null> => {
  try {
    return (await witness.isIntact()) ? await log.batch(position) : null;
  } catch (cause) {
    if (hasCode(cause, 'log_regressed')) throw cause;
    witness.distrust();
    log.distrust();
    if (log.closed()) throw new NatterError('unavailable', 'the connection to the broker is closed', { cause });
    return null;
  }
};

/**
 * Compares the log once a second with what was read from it. A bad answer counts only when it is repeated: a new leader may still be catching
 * up. The commit itself is compared after each failure: only then can it be another one.
 */
class Witness {
  readonly #log: FollowedLog;
  readonly #read: { -readonly [Name in keyof LogWitness]: LogWitness[Name] };
  #nextLook = Number.NEGATIVE_INFINITY;
  #trusted = true;
  #doubt = false;

  constructor(log: FollowedLog, after: number) {
    this.#log = log;
    this.#read = { incarnation: null, seq: after, digest: null };
  }

  /** This was read. */
  note(seq: number, digest: string | null): void {
    this.#read.seq = seq;
    this.#read.digest = digest;
  }

  /** The log may have been replaced. */
  distrust(): void {
    this.#trusted = false;
    this.#nextLook = Number.NEGATIVE_INFINITY;
  }

  async isIntact(): Promise<boolean> {
    const now = this.#log.clock.monotonic();
    if (now < this.#nextLook) return true;
    const view = await this.#log.view(this.#trusted ? 0 : this.#read.seq);
    const problem = regression(this.#read, view);
    if (problem !== null) this.#log.distrust();
    if (problem !== null && this.#doubt) throw new NatterError('log_regressed', problem);
    this.#doubt = problem !== null;
    if (problem !== null) return false;
    this.#read.incarnation = view.incarnation;
    this.#trusted = true;
    this.#nextLook = now + pollMs;
    return true;
  }
}

/** Sleeps that a hint or the abort signal ends early. */
class Sleeper {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #woken = new Ending();
  readonly wake = (): void => this.#woken.abort();

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', this.wake);
  }

  /** Sleeps until `ms` have passed or `wake` is called; returns at once when `reason` holds already. */
  async sleepUnless(reason: () => boolean, ms: number): Promise<void> {
    this.#woken = new Ending();
    if (!reason() && !this.#signal.aborted) await this.#clock.sleep(ms, this.#woken);
  }

  /** Sleeps until `ms` have passed or the signal aborts. */
  async sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#clock.sleep(ms, this.#signal);
  }

  stop(): void {
    this.#signal.removeEventListener('abort', this.wake);
  }
}
