import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import {
  afterCommitOf,
  failedRun,
  isOver,
  type Run,
  type TrackedRun,
  unknownRun,
} from '../../../shared/domain/projections/run.ts';
import type { CommandAnswer } from '../../../shared/domain/session/envelope.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { Ending } from '../../../shared/kit/signal.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { findRun } from '../../../shared/runtime/session-tools/find-run.ts';
import type { EventFeed } from './event-feed.ts';

export interface Expectation {
  /** Nothing recorded up to there is reported. */
  readonly seen: number;
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** What is waited for. Default: that it is over. */
  readonly isEnough?: ((run: Run | null) => boolean) | undefined;
}
/** The run once it is over, or as far as wanted, or as it is after `waitMs`, as the log tells it after a sequence. */
export type Recorded = (
  key: SessionKey,
  runId: string,
  wait: { readonly after: number } & Omit<Expectation, 'seen'>,
) => Promise<Run | null>;

interface Sources {
  readonly ports: Pick<Ports, 'answers' | 'clock' | 'events' | 'snapshots'>;
  readonly feed: EventFeed;
  readonly recorded: Recorded;
}

/**
 * The outcome of a command that is published next: it hears of it from its creation on, so that nothing is looked for afterwards. Two sources
 * tell: the log, and the host's answer, which is the only one for refusals and duplicates, since they record nothing. Call `end` at last.
 */
export class ExpectedRun {
  readonly #sources: Sources;
  readonly #key: SessionKey;
  readonly #runId: string;
  readonly #expectation: Expectation;
  /** Nothing more is waited for. */
  readonly #over = new Ending();
  readonly #outcome: Promise<Run | null>;
  readonly #ends: (() => void)[] = [];
  #settle: (run: Run | null | Promise<Run | null>) => void = () => {};

  /** Throws `NatterError('unavailable')` before the log has answered, `'overloaded'` when too many calls wait. */
  constructor(sources: Sources, key: SessionKey, runId: string, expectation: Expectation) {
    this.#sources = sources;
    this.#key = key;
    this.#runId = runId;
    this.#expectation = expectation;
    this.#outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    // `after` tells it, if it is called at all: publishing may fail.
    this.#outcome.catch(() => {});
    this.#hear();
  }

  /** The outcome, or `timeout`, now that the command is published. `duplicate`: the broker had it already. */
  async after(duplicate: boolean): Promise<Run> {
    const { signal, waitMs } = this.#expectation;
    const leave = (): void => {
      this.#over.abort();
      this.#settle(null);
    };
    signal.addEventListener('abort', leave);
    this.#ends.push(() => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
    void this.#sources.ports.clock.sleep(waitMs, this.#over).then(leave);
    if (duplicate) this.#settle(this.#recordedBefore());
    const message = "no outcome yet; the run continues: request it again, or read the session's messages";
    const timeout: Run = { runId: this.#runId, status: 'timeout', error: { code: 'timeout', message } };
    try {
      const run = await this.#outcome;
      return run !== null && this.#isEnough(run) ? run : timeout;
    } catch (error) {
      // The command is stored by now: a 503 would make the caller send it again.
      if (hasCode(error, 'unavailable')) return timeout;
      throw error;
    }
  }

  /** Stops waiting. */
  end(): void {
    this.#over.abort();
    for (const end of this.#ends.splice(0)) end();
  }

  #hear(): void {
    const { feed, ports } = this.#sources;
    let known: TrackedRun = unknownRun(this.#runId, 0);
    const endLog = feed.hear(this.#key, (commit) => {
      if (commit !== null) known = afterCommitOf(known, commit, this.#runId);
      if (commit === null || this.#isEnough(known.run)) this.#settle(known.run);
    });
    this.#ends.push(endLog);
    try {
      this.#ends.push(ports.answers.hear(this.#runId, (answer) => this.#take(answer)));
    } catch (error) {
      endLog();
      throw error;
    }
  }

  /** What has taken effect is in the log: only what is not there counts here. */
  #take({ outcome, code = 'refused', message = 'the session refuses this' }: CommandAnswer): void {
    if (outcome === 'refused') this.#settle(failedRun(this.#runId, code, message));
    else if (outcome === 'duplicate') this.#settle(this.#ofRepeat());
  }

  async #ofRepeat(): Promise<Run | null> {
    const { run } = await findRun(this.#sources.ports, this.#key, this.#runId, this.#expectation.seen);
    if (run !== null) return this.#isEnough(run) ? run : this.#recordedBefore();
    const message = 'a message with this messageId is in the session already; nothing was added';
    return failedRun(this.#runId, 'duplicate_message', message);
  }

  #recordedBefore(): Promise<Run | null> {
    const { seen: after, waitMs, isEnough } = this.#expectation;
    const over = new AbortController();
    if (this.#over.aborted) over.abort(null);
    this.#over.addEventListener('abort', () => over.abort(null));
    return this.#sources.recorded(this.#key, this.#runId, { after, waitMs, isEnough, signal: over.signal });
  }

  #isEnough(run: Run | null): boolean {
    return (this.#expectation.isEnough ?? isOver)(run);
  }
}
