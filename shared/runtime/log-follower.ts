import type { HistoryGap } from '../domain/session/chain.ts';
import { ChainWatch } from '../domain/session/chain-watch.ts';
import type { RecordedCommit } from '../domain/session/envelope.ts';
import type { EventType } from '../domain/session/events.ts';
import { type Backoff, backoffMs } from '../kit/backoff.ts';
import type { Clock } from '../kit/clock.ts';
import type { EventLog } from '../ports/event-log.ts';

export interface LogFollowerOptions {
  readonly events: Pick<EventLog, 'follow'>;
  /** The sequence to start reading after. Called once, and again after it failed. */
  start(): Promise<number>;
  /** Only commits filed under one of these headlines. */
  readonly headlines?: readonly EventType[];
  /** Minimum milliseconds between two reads of the log. */
  readonly readPauseMs: number;
}

/** Handles one commit; the next one is passed on when this is done. `gap`: what is lost in front of it (F13), if all headlines are read. */
type Take = (commit: RecordedCommit, gap: HistoryGap | null) => Promise<void> | void;

/** Sessions whose last commit a follower remembers at least, to see whether the next one follows: 2 to 4 MB. */
const watchedSessions = 10_000;

export interface Resuming {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly retries: Backoff;
  /** Called before each start of reading, when `position` is known. */
  reading(): void;
  failed(error: unknown): void;
}

/** Reads the log from a start position and passes each commit on once, in order. Persisting the position is left to the owner. */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  readonly #chain = new ChainWatch(watchedSessions);
  #position: number | null = null;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
  }

  /** Sequence of the last commit handled; at first the start position, or 0 before that is known. */
  get position(): number {
    return this.#position ?? 0;
  }

  /** Determines the start position, once. Rejects as `options.start` does. */
  async start(): Promise<number> {
    this.#position ??= await this.#options.start();
    return this.#position;
  }

  /**
   * Passes commits on until `until` aborts. Rejects when `start`, the log or `take` fails; `position` is then that of the last
   * commit handled, and a new run continues after it.
   */
  async run(until: AbortSignal, take: Take): Promise<void> {
    const { events, headlines, readPauseMs } = this.#options;
    const after = await this.start();
    for await (const commit of events.follow({ after, signal: until, pauseMs: readPauseMs, ...(headlines && { headlines }) })) {
      const gap = headlines ? null : this.#chain.take(commit);
      const taken = take(commit, gap);
      if (taken) await taken;
      this.#position = commit.seq;
    }
  }

  /**
   * Like `run`, but never rejects: after a failure it pauses, with growing delays, and continues after the last commit handled.
   */
  async runResuming(until: AbortSignal, take: Take, { clock, retries, reading, failed }: Resuming): Promise<void> {
    let failures = 0;
    const succeeded = (): void => {
      failures = 0;
    };
    for (; !until.aborted; failures += 1) {
      try {
        await this.start();
        reading();
        await this.run(until, (commit, gap) => {
          const taken = take(commit, gap);
          return taken ? taken.then(succeeded) : succeeded();
        });
      } catch (error) {
        failed(error);
      }
      await clock.sleep(backoffMs(retries, failures), until);
    }
  }
}
