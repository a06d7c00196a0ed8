import type { RecordedCommit } from '../../domain/session/envelope.ts';
import { backoffMs } from '../../kit/backoff.ts';
import type { Clock } from '../../kit/clock.ts';
import { hasCode, NatterError } from '../../kit/errors.ts';
import type { FollowOptions, LogInfo } from '../../ports/event-log.ts';
import type { MessageBatch, StoredMessage } from './stored-message.ts';

/** Tells that something was stored. A nudge that gets lost costs a second, never a commit. */
export interface Nudges {
  /** The greatest sequence told of, 0 if none. */
  latest(): number;
  stop(): void;
}

/** What following needs of a log, for one choice of keys and headlines. */
export interface FollowedLog {
  readonly clock: Clock;
  /** The messages after a sequence, oldest first and without a hole; may be behind the leader. Rejects when the broker does not answer. */
  batch(after: number): Promise<MessageBatch>;
  info(): Promise<LogInfo>;
  nudges(wake: () => void): Nudges;
  /** `null`: not one of those asked for, or not a commit. */
  commitOf(message: StoredMessage): RecordedCommit | null;
  /** True when the log will never answer again because we closed it. */
  closed(): boolean;
}

/** How long a lost nudge, an outage or a doubt about the log is waited out. */
const pollMs = 1_000;
/** How long a message that a replica does not have yet, or that was erased, is waited for. */
const lagWaits = { firstMs: 1, mostMs: pollMs };
/** What was stored shortly before we began to listen has no nudge, and a replica may lack it: the first polls come sooner. */
const firstIdleMs = 20;

/**
 * History and then live, in order and without a gap, until the signal aborts (ADR 2). The position moves only by what was received, so a
 * stale, failed or interrupted read is simply made again. Throws `NatterError('log_regressed')` when the log ends before the position
 * or was created anew (I13), and `NatterError('unavailable')` when we closed the connection.
 */
export async function* followLog(log: FollowedLog, options: FollowOptions): AsyncGenerator<RecordedCommit, void, undefined> {
  const { signal, pauseMs = 0 } = options;
  const witness = new Witness(log);
  const sleeper = new Sleeper(log.clock, signal);
  const nudges = log.nudges(() => sleeper.wake());
  let position = options.after;
  let stuckReads = 0;
  let idleMs = firstIdleMs;
  try {
    while (!signal.aborted) {
      const nudged = nudges.latest();
      const startedAt = log.clock.monotonic();
      const batch = await readIfIntact(log, witness, position);
      for (const message of batch?.messages ?? []) {
        position = message.seq;
        const commit = log.commitOf(message);
        if (signal.aborted) return;
        if (commit !== null) yield commit;
      }
      if (batch?.more) continue;
      const behind = nudges.latest() > position;
      const stuck = behind && nudges.latest() === nudged && batch?.messages.length === 0;
      // A nudge that this replica does not have yet, or that was erased meanwhile, is asked for again, ever more slowly.
      stuckReads = stuck ? stuckReads + 1 : 0;
      if (batch === null) await sleeper.sleep(pollMs);
      else if (stuck) await sleeper.sleepUnless(() => nudges.latest() > nudged, backoffMs(lagWaits, stuckReads - 1));
      else if (!behind) {
        await sleeper.sleepUnless(() => nudges.latest() > position, idleMs);
        idleMs = Math.min(pollMs, 2 * idleMs);
      }
      await sleeper.sleep(startedAt + pauseMs - log.clock.monotonic());
    }
  } finally {
    nudges.stop();
    sleeper.stop();
  }
}

/** `null`: the broker is away, slow or electing, or the log is in doubt. */
const readIfIntact = async (log: FollowedLog, witness: Witness, position: number): Promise<MessageBatch | null> => {
  try {
    return (await witness.isIntact(position)) ? await log.batch(position) : null;
  } catch (cause) {
    if (hasCode(cause, 'log_regressed')) throw cause;
    if (log.closed()) throw new NatterError('unavailable', 'the connection to the broker is closed', { cause });
    return null;
  }
};

/** Looks at the log's end once a second and believes a bad answer when it comes twice: a new leader may still be catching up. */
class Witness {
  readonly #log: FollowedLog;
  #incarnation: number | null = null;
  #nextLook = Number.NEGATIVE_INFINITY;
  #doubt = false;

  constructor(log: FollowedLog) {
    this.#log = log;
  }

  async isIntact(position: number): Promise<boolean> {
    const now = this.#log.clock.monotonic();
    if (now < this.#nextLook) return true;
    const { incarnation, lastSeq } = await this.#log.info();
    this.#incarnation ??= incarnation;
    const intact = incarnation === this.#incarnation && lastSeq >= position;
    if (!intact && this.#doubt) throw new NatterError('log_regressed', regression(position, lastSeq));
    this.#doubt = !intact;
    if (intact) this.#nextLook = now + pollMs;
    return intact;
  }
}

const regression = (position: number, lastSeq: number): string =>
  position > lastSeq
    ? `the event log ends at ${lastSeq}, before ${position}, which was read from it`
    : `the event log was created anew; its predecessor was read up to ${position}`;

/** Sleeps that a nudge, or the end, cuts short. */
class Sleeper {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #woken = new AbortController();
  readonly wake = (): void => this.#woken.abort(null);

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', this.wake);
  }

  /** Until `ms` have passed or `wake` is called; not at all when `reason` holds already. */
  async sleepUnless(reason: () => boolean, ms: number): Promise<void> {
    this.#woken = new AbortController();
    if (!reason() && !this.#signal.aborted) await this.#clock.sleep(ms, this.#woken.signal);
  }

  /** Until `ms` have passed or the signal aborts. */
  async sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#clock.sleep(ms, this.#signal);
  }

  stop(): void {
    this.#signal.removeEventListener('abort', this.wake);
  }
}
