import { type LogView, nothingSeen, regression } from '../../../domain/session/log-witness.ts';
import { type Regression, StreamGuard, type StreamGuardOptions } from './stream-guard.ts';

export interface QueueGuardOptions extends StreamGuardOptions {
  readonly stream: string;
  /** True: it counts as unused, and is not looked at, until something is stored in it or read from it. */
  readonly lazy?: boolean;
  /** As it is now, by its leader. */
  end(): Promise<Omit<LogView, 'digest'>>;
}

/** At most so often it is shared how far the stream has come. */
const saveMs = 1_000;

/**
 * Keeps this process from working with a queue, or a bucket of facts, that went back to an older copy (I13): what it had accepted since is gone, and it would give
 * places out again. While that is so nothing is stored in the queue and nothing taken from it, so that a newer copy can still be put back;
 * then work goes on by itself, and so it does when a person accepts the loss. No message waits for the witness.
 *
 * Messages leave a queue, so that there is no digest to compare: a copy that is younger than a second may go unseen if new messages fill its
 * places before this process looks. A place that is given out twice is noticed all the same, and remembered.
 */
export class QueueGuard extends StreamGuard {
  readonly code = 'queue_went_back';
  protected readonly name: string;
  readonly #end: QueueGuardOptions['end'];
  readonly #stopping = new AbortController();
  /** A place that was given out twice. */
  #reused: number | null = null;
  #saving = false;
  #used: boolean;

  constructor(options: QueueGuardOptions) {
    super(options);
    this.name = `the stream ${options.stream}`;
    this.#end = options.end;
    this.#used = options.lazy !== true;
  }

  /** A queue that is trusted is not compared again before a connection breaks: each message that is stored compares it. */
  override get isDue(): boolean {
    return this.#used && !this.isTrusted;
  }

  override problem(): ReturnType<StreamGuard['problem']> {
    return this.#used ? super.problem() : null;
  }

  /** Only who uses the stream waits for the first look at it: until that has ended, it is no problem of the process. */
  override async check(): Promise<void> {
    try {
      await super.check();
    } finally {
      this.#used = true;
    }
  }

  /** Stores a message, with `send`, if the stream can be trusted. */
  async store<T extends { readonly seq: number; readonly duplicate?: boolean }>(send: () => Promise<T>): Promise<T> {
    await this.check();
    const before = this.seen.seq;
    const stored = await send();
    if (stored.seq <= before && stored.duplicate !== true) {
      this.#reused = stored.seq;
      this.distrust();
    }
    this.#reached(stored.seq);
    return stored;
  }

  /** A message with this place was handed out. Throws as `check`. */
  async take(seq: number): Promise<void> {
    await this.check();
    this.#reached(seq);
  }

  #reached(seq: number): void {
    if (seq <= this.seen.seq) return;
    this.note({ ...this.seen, seq });
    if (!this.#saving) void this.#keepSaving();
  }

  stop(): void {
    this.#stopping.abort();
  }

  protected async regression(): Promise<Regression | null> {
    if (this.#reused !== null) await this.witness.reuse(this.#reused, this.accepted ?? 0);
    const written = await this.witness.read();
    if (this.accepted !== null && written.accepted > this.accepted) {
      this.seen = nothingSeen;
      this.#reused = null;
    }
    this.accepted = written.accepted;
    const before = this.seen;
    const now = { ...(await this.#end()), digest: null };
    const problem =
      written.reused === undefined
        ? (regression(written, now, this.name) ?? regression(before, now, this.name))
        : `${this.name} gave its place ${written.reused} out again, but had reached ${written.seq}`;
    if (problem !== null) {
      await this.shareLoss(before, now);
      return { text: `${problem}${toAct}` };
    }
    this.seen = { ...this.seen, incarnation: now.incarnation };
    return null;
  }

  async #keepSaving(): Promise<void> {
    this.#saving = true;
    while (this.isUnsaved && !this.#stopping.signal.aborted) {
      await this.save().catch(() => {});
      await this.clock.sleep(saveMs, this.#stopping.signal);
    }
    this.#saving = false;
  }
}

const toAct =
  ': what it had accepted is gone. It is not used until its newer copy is back, or until `natter log accept` accepts the loss';
