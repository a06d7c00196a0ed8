import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { Commit, RecordedCommit } from '../../domain/session/envelope.ts';
import { type LogWitness, nothingSeen, regression } from '../../domain/session/log-witness.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import type { Cursors } from '../../ports/cursors.ts';
import type { AppendResult, EventLog } from '../../ports/event-log.ts';
import type { WritersWitness } from './writers-witness.ts';

/** A problem must persist for this long: a newly elected leader may still be catching up. */
const believeMs = 500;

export interface LogGuardOptions {
  readonly events: EventLog;
  readonly clock: Clock;
  /** What outlives this process: the witness of all writers, and the cursors of the readers. */
  readonly witness: WritersWitness;
  readonly cursors: Pick<Cursors, 'all'>;
}

/**
 * Keeps this process from writing to a log that went back (I13). It remembers how far the log had reached and which commit was there, and
 * shares that with the processes after it: at most once a second, so that no turn waits for it. At the start and after each lost connection it
 * compares the log with all that is remembered anywhere, and once a second with its own memory. While the log is shorter, or another one,
 * nothing is appended, and no key's last commit is told: outcomes are unknown, so that commands wait and are not skipped. When the old log
 * is back, writing continues by itself; when a person accepts the loss, it continues in the processes that are started after the loss.
 */
export class LogGuard {
  readonly #events: EventLog;
  readonly #clock: Clock;
  readonly #durable: LogGuardOptions;
  #seen: LogWitness = nothingSeen;
  /** Losses accepted before this process had seen anything; `null`: not read yet. */
  #accepted: number | null = null;
  #unsaved = false;
  #trusted = false;
  #doubt: { readonly since: number; readonly problem: string } | null = null;
  #looking: Promise<void> | null = null;

  constructor(options: LogGuardOptions) {
    this.#events = options.events;
    this.#clock = options.clock;
    this.#durable = options;
  }

  /** The log may have been replaced (the connection broke): check before the next append. */
  distrust(): void {
    this.#trusted = false;
  }

  /** Compares the log with what was seen before. Rejects with `unavailable` when the log or a witness cannot be reached. */
  look(): Promise<void> {
    this.#looking ??= this.#compare()
      .then(() => this.save())
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  /** Shares what this process has written. Rejects with `unavailable`. */
  async save(): Promise<void> {
    if (!this.#unsaved || !this.#trusted || this.#accepted === null) return;
    this.#unsaved = false;
    await this.#durable.witness.raise({ ...this.#seen, accepted: this.#accepted }).catch((error: unknown) => {
      this.#unsaved = true;
      throw error;
    });
  }

  /** What is wrong with the log, once it is certain; before that, that it is being checked. `null` if nothing is wrong. */
  problem(): { readonly text: string; readonly certain: boolean } | null {
    const doubt = this.#doubt;
    if (doubt !== null && this.#clock.monotonic() - doubt.since >= believeMs) return { text: doubt.problem, certain: true };
    return this.#trusted ? null : { text: 'the event log is being checked', certain: false };
  }

  /** The log behind this guard. */
  guarded(): EventLog {
    const events = this.#events;
    return {
      append: (commit, expectedSeq) => this.#append(commit, expectedSeq),
      last: (key) => this.#last(key),
      count: (key) => events.count(key),
      read: (key, options) => events.read(key, options),
      page: (options) => events.page(options),
      raw: (options) => events.raw(options),
      follow: (options) => events.follow(options),
      info: () => events.info(),
      view: (seq) => events.view(seq),
    };
  }

  /** Why the log cannot be trusted, also after one more look. */
  async #unlessTrusted(): Promise<string | null> {
    if (!this.#trusted) await this.look().catch(() => {});
    return this.#trusted ? null : (this.#doubt?.problem ?? 'the event log cannot be checked now');
  }

  /** Sessions are loaded and commands answered by this: a session of a log that went back would look damaged, or be told what is not true. */
  async #last(key: SessionKey): Promise<RecordedCommit | null> {
    const doubt = await this.#unlessTrusted();
    if (doubt !== null) throw new NatterError('unavailable', doubt, { retryAfterMs: 1_000 });
    return this.#events.last(key);
  }

  async #append(commit: Commit, expectedSeq: number): Promise<AppendResult> {
    const doubt = await this.#unlessTrusted();
    if (doubt !== null) return { kind: 'unknown', cause: doubt };
    const before = this.#seen.seq;
    const result = await this.#events.append(commit, expectedSeq);
    if (result.kind === 'stored') {
      // Either a recognised repeat, or the sequences started again.
      if (result.seq <= before) this.distrust();
      this.#unsaved = true;
      if (result.seq > this.#seen.seq) this.#seen = { ...this.#seen, seq: result.seq, digest: result.digest };
    }
    return result;
  }

  async #compare(): Promise<void> {
    // Appends during the requests must not count against their answers.
    const before = this.#seen;
    const problem = (this.#trusted ? null : await this.#durableRegression()) ?? (await this.#regressionSince(before));
    if (problem !== null) {
      this.#trusted = false;
      this.#doubt = { since: this.#doubt?.since ?? this.#clock.monotonic(), problem };
      return;
    }
    this.#trusted = true;
    this.#doubt = null;
  }

  /** How the log has lost what this process has seen. If it has not, this process has now seen the end that the log has. */
  async #regressionSince(before: LogWitness): Promise<string | null> {
    // Another commit can only be there after a lost connection, and a commit may be large.
    const now = await this.#events.view(this.#trusted ? 0 : before.seq);
    const problem = regression(before, now);
    if (problem !== null) return `${problem}${toAct}`;
    const { incarnation, lastSeq } = now;
    const { digest } = lastSeq > this.#seen.seq ? await this.#events.view(lastSeq) : this.#seen;
    this.#seen = lastSeq > this.#seen.seq ? { incarnation, seq: lastSeq, digest } : { ...this.#seen, incarnation };
    return null;
  }

  /** How the log has lost what other or earlier processes have seen. */
  async #durableRegression(): Promise<string | null> {
    const { witness, cursors } = this.#durable;
    const [written, read] = await Promise.all([witness.read(), cursors.all()]);
    // What this process holds of sessions may be of the part that was lost.
    if (this.#accepted !== null && written.accepted > this.#accepted)
      return 'a person has accepted that the end of the event log is lost, and this process has worked with it: restart it';
    for (const seen of [written, ...read.values()]) {
      const problem = regression(seen, await this.#events.view(seen.seq));
      if (problem !== null) return `${problem}${toAct}`;
    }
    this.#accepted ??= written.accepted;
    return null;
  }
}

const toAct = ': writing is stopped until the log is back, or until `natter log accept` accepts the loss';
