import type { Commit } from '../../../domain/session/envelope.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { AppendResult, EventLog, LogInfo } from '../../../ports/event-log.ts';

/** A problem must persist for this long: a newly elected leader may still be catching up. */
const believeMs = 500;

/**
 * Keeps this process from writing to a log that went back (I13). It remembers the greatest sequence seen and the stream's
 * incarnation. While the log is shorter, or another one, nothing is appended: the outcome is `unknown`, so that commands wait and
 * are not skipped. When the old log is back, writing continues by itself.
 */
export class LogGuard {
  readonly #events: EventLog;
  readonly #clock: Clock;
  #witnessed: Pick<LogInfo, 'incarnation' | 'lastSeq'> | null = null;
  #trusted = false;
  #doubt: { readonly since: number; readonly problem: string } | null = null;
  #looking: Promise<void> | null = null;

  constructor(events: EventLog, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  /** The log may have been replaced (the connection broke): check before the next append. */
  distrust(): void {
    this.#trusted = false;
  }

  /** Compares the log with what was seen before. Rejects with `unavailable` when the log cannot be reached. */
  look(): Promise<void> {
    this.#looking ??= this.#compare().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** What is wrong with the log, once it is certain; `null` if nothing is. */
  problem(): string | null {
    const doubt = this.#doubt;
    return doubt !== null && this.#clock.monotonic() - doubt.since >= believeMs ? doubt.problem : null;
  }

  /** The log behind this guard. */
  guarded(): EventLog {
    const events = this.#events;
    return {
      append: (commit, expectedSeq) => this.#append(commit, expectedSeq),
      last: (key) => events.last(key),
      read: (key, options) => events.read(key, options),
      page: (options) => events.page(options),
      raw: (options) => events.raw(options),
      follow: (options) => events.follow(options),
      info: () => events.info(),
    };
  }

  async #append(commit: Commit, expectedSeq: number): Promise<AppendResult> {
    if (!this.#trusted) {
      await this.look().catch(() => {});
      if (!this.#trusted) return { kind: 'unknown', cause: this.#doubt?.problem ?? 'the event log cannot be checked now' };
    }
    const before = this.#witnessed?.lastSeq ?? 0;
    const result = await this.#events.append(commit, expectedSeq);
    if (result.kind === 'stored') {
      // Either a recognised repeat, or the sequences started again.
      if (result.seq <= before) this.distrust();
      this.#witness(result.seq);
    }
    return result;
  }

  #witness(seq: number): void {
    const witnessed = this.#witnessed;
    if (witnessed !== null && seq > witnessed.lastSeq) this.#witnessed = { ...witnessed, lastSeq: seq };
  }

  async #compare(): Promise<void> {
    // Appends during the request must not count against its answer.
    const before = this.#witnessed;
    const now = await this.#events.info();
    const problem = before === null ? null : regression(before, now);
    this.#trusted = problem === null;
    if (problem !== null) {
      this.#doubt = { since: this.#doubt?.since ?? this.#clock.monotonic(), problem };
      return;
    }
    this.#doubt = null;
    const lastSeq = Math.max(now.lastSeq, this.#witnessed?.lastSeq ?? 0);
    this.#witnessed = { incarnation: now.incarnation, lastSeq };
  }
}

/** An empty log that is replaced has lost nothing. */
const regression = (before: Pick<LogInfo, 'incarnation' | 'lastSeq'>, now: LogInfo): string | null => {
  if (before.lastSeq === 0) return null;
  const stopped = 'writing is stopped until the log is back';
  if (now.lastSeq < before.lastSeq) return `the event log ends at ${now.lastSeq}, but had reached ${before.lastSeq}: ${stopped}`;
  return now.incarnation === before.incarnation
    ? null
    : `the event log was recreated; it had reached ${before.lastSeq}: ${stopped}`;
};
