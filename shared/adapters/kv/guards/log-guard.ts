import type { SessionKey } from '../../../domain/keys/session-key.ts';
import type { Commit, RecordedCommit } from '../../../domain/session/envelope.ts';
import { type LogWitness, regression } from '../../../domain/session/log-witness.ts';
import type { Cursors } from '../../../ports/cursors.ts';
import type { AppendResult, EventLog } from '../../../ports/event-log.ts';
import { type Regression, StreamGuard, type StreamGuardOptions } from './stream-guard.ts';

export interface LogGuardOptions extends StreamGuardOptions {
  readonly events: EventLog;
  /** Beside the witness of all writers, those of the readers. */
  readonly cursors: Pick<Cursors, 'all'>;
}

/**
 * Keeps this process from writing to a log that went back (I13). It remembers how far the log had reached and which commit was there, and
 * shares that with the processes after it: at most once a second, so that no turn waits for it. At the start and after each lost connection it
 * compares the log with all that is remembered anywhere, and once a second with its own memory. While the log is shorter, or another one,
 * nothing is appended, and no key's last commit is told: outcomes are unknown, so that commands wait and are not skipped. When the old log
 * is back, writing continues by itself; when a person accepts the loss, it continues in the processes that are started after the loss.
 */
export class LogGuard extends StreamGuard {
  readonly code = 'log_went_back';
  protected readonly name = 'the event log';
  readonly #events: EventLog;
  readonly #cursors: LogGuardOptions['cursors'];

  constructor(options: LogGuardOptions) {
    super(options);
    this.#events = options.events;
    this.#cursors = options.cursors;
  }

  /** The log behind this guard. */
  guarded(): EventLog {
    const events = this.#events;
    return {
      append: (commit, expectedSeq) => this.#append(commit, expectedSeq),
      last: (key) => this.#last(key),
      newest: (headline) => events.newest(headline),
      count: (key) => events.count(key),
      read: (key, options) => events.read(key, options),
      page: (options) => events.page(options),
      raw: (options) => events.raw(options),
      follow: (options) => events.follow(options),
      info: () => events.info(),
      view: (seq) => events.view(seq),
    };
  }

  /** Sessions are loaded and commands answered by this: a session of a log that went back would look damaged, or be told what is not true. */
  async #last(key: SessionKey): Promise<RecordedCommit | null> {
    await this.check();
    return this.#events.last(key);
  }

  async #append(commit: Commit, expectedSeq: number): Promise<AppendResult> {
    const doubt = await this.unlessTrusted();
    if (doubt !== null) return { kind: 'unknown', cause: doubt };
    const before = this.seen.seq;
    const result = await this.#events.append(commit, expectedSeq);
    if (result.kind === 'stored') {
      // Either a recognised repeat, or the sequences started again.
      if (result.seq <= before) this.distrust();
      const { seq, digest } = result.seq > this.seen.seq ? result : this.seen;
      this.note({ ...this.seen, seq, digest });
    }
    return result;
  }

  protected async regression(): Promise<Regression | null> {
    // Appends during the requests must not count against their answers.
    const before = this.seen;
    return (this.isTrusted ? null : await this.#durableRegression()) ?? (await this.#regressionSince(before));
  }

  /** How the log has lost what this process has seen. If it has not, this process has now seen the end that the log has. */
  async #regressionSince(before: LogWitness): Promise<Regression | null> {
    // Another commit can only be there after a lost connection, and a commit may be large.
    const now = await this.#events.view(this.isTrusted ? 0 : before.seq);
    const problem = regression(before, now);
    if (problem !== null) {
      await this.shareLoss(before, now);
      return { text: `${problem}${toAct}` };
    }
    const { incarnation, lastSeq } = now;
    const { digest } = lastSeq > this.seen.seq ? await this.#events.view(lastSeq) : this.seen;
    this.seen = lastSeq > this.seen.seq ? { incarnation, seq: lastSeq, digest } : { ...this.seen, incarnation };
    return null;
  }

  /** How the log has lost what other or earlier processes have seen. */
  async #durableRegression(): Promise<Regression | null> {
    const [written, read] = await Promise.all([this.witness.read(), this.#cursors.all()]);
    // What this process holds of sessions may be of the part that was lost.
    if (this.accepted !== null && written.accepted > this.accepted) return decided;
    for (const seen of [written, ...read.values()]) {
      const problem = regression(seen, await this.#events.view(seen.seq));
      if (problem !== null) return { text: `${problem}${toAct}` };
    }
    this.accepted ??= written.accepted;
    return null;
  }
}

const decided: Regression = {
  text: 'a person has accepted that the end of the event log is lost, and this process has worked with it: restart it',
  fix: 'restart this process, or "natter up"; nothing more is lost',
};
const toAct = ': writing is stopped until the log is back, or until `natter log accept` accepts the loss';
