import type { RecordedCommit } from '../domain/session/envelope.ts';
import type { EventType } from '../domain/session/events.ts';
import { type Backoff, backoffMs } from '../kit/backoff.ts';
import type { Clock } from '../kit/clock.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Ports } from '../ports/index.ts';
import { witnessLog } from './log-witness.ts';

export interface LogFollowerOptions {
  readonly events: Pick<EventLog, 'follow'>;
  /** The sequence after which it starts to read. Asked once, and after a failure again. */
  start(): Promise<number>;
  /** Only commits filed under one of these headlines. */
  readonly headlines?: readonly EventType[];
  /** Least milliseconds between two reads of the log. */
  readonly readPauseMs: number;
}

/** Deals with one commit. The next one is handed on once this is done. */
type Take = (commit: RecordedCommit) => Promise<void> | void;

export interface Resuming {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly retries: Backoff;
  /** Called each time before the log is read; `position` is known by then. */
  reading(): void;
  failed(error: unknown): void;
}

/** Reads the log from a start position on, and hands each commit on once, in order. What is durable of it is for its owner to decide. */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  #position: number | null = null;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
  }

  /** Sequence of the last commit that was dealt with; at first the start position, 0 before that is known. */
  get position(): number {
    return this.#position ?? 0;
  }

  /** Finds the start position, once. Rejects as `options.start` does. */
  async start(): Promise<number> {
    this.#position ??= await this.#options.start();
    return this.#position;
  }

  /**
   * Hands commits on until `until` aborts. Rejects when `start`, the log or `take` fails: the position is then that of the last commit
   * dealt with, and a new run goes on after it.
   */
  async run(until: AbortSignal, take: Take): Promise<void> {
    const { events, headlines, readPauseMs } = this.#options;
    const after = await this.start();
    for await (const commit of events.follow({ after, signal: until, pauseMs: readPauseMs, ...(headlines && { headlines }) })) {
      const taken = take(commit);
      if (taken) await taken;
      this.#position = commit.seq;
    }
  }

  /** As `run`, but never rejects: after a failure it pauses, longer with each failure in a row, and goes on after the last commit dealt with. */
  async runResuming(until: AbortSignal, take: Take, { clock, retries, reading, failed }: Resuming): Promise<void> {
    for (let failures = 0; !until.aborted; failures += 1) {
      try {
        await this.start();
        reading();
        await this.run(until, (commit) => {
          failures = 0;
          return take(commit);
        });
      } catch (error) {
        failed(error);
      }
      await clock.sleep(backoffMs(retries, failures), until);
    }
  }
}

/** The position that `load` gives, once the log is known to be the one it belongs to. Throws `NatterError('log_regressed')` if it is not (I13). */
export const witnessedPosition = async (
  ports: Pick<Ports, 'events' | 'cursors'>,
  reader: string,
  load: () => Promise<number>,
): Promise<number> => {
  const position = await load();
  await witnessLog(ports, reader, position);
  return position;
};
