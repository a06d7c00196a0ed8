import { type LogView, type LogWitness, nothingSeen } from '../../../domain/session/log-witness.ts';
import type { Clock } from '../../../kit/clock.ts';
import { NatterError } from '../../../kit/errors.ts';
import type { HealthCode } from '../../../kit/health-problem.ts';
import type { WritersWitness } from './writers-witness.ts';

/** A problem must persist for this long: a newly elected leader may still be catching up. */
const believeMs = 500;

export interface StreamGuardOptions {
  readonly clock: Clock;
  /** What outlives this process. */
  readonly witness: WritersWitness;
}

/** How a stream has lost what was seen of it. */
export interface Regression {
  readonly text: string;
  /** What to do, if it is not the usual of the guard's `code`. */
  readonly fix?: string;
}

/**
 * Whether a stream still has what was seen of it (I13): what this process remembers, and what it shares with the processes after it. At the
 * start and after each lost connection the stream counts as untrusted until it was compared.
 */
export abstract class StreamGuard {
  /** The problem when the stream went back. */
  abstract readonly code: HealthCode;
  /** As it stands in messages. */
  protected abstract readonly name: string;
  protected readonly clock: Clock;
  protected readonly witness: WritersWitness;
  protected seen: LogWitness = nothingSeen;
  /** Losses accepted before this process had seen anything; `null`: not read yet. */
  protected accepted: number | null = null;
  #unsaved = false;
  /** It is not for all processes to write the witness. */
  #isWriter = false;
  #trusted = false;
  /** How often it was distrusted: what was asked before proves nothing. */
  #distrusted = 0;
  #doubt: { readonly since: number; readonly regression: Regression } | null = null;
  #looking: Promise<void> | null = null;
  #sharing: Promise<void> = Promise.resolve();

  constructor({ clock, witness }: StreamGuardOptions) {
    this.clock = clock;
    this.witness = witness;
  }

  get isTrusted(): boolean {
    return this.#trusted;
  }

  /** True if it is time for another look. */
  get isDue(): boolean {
    return true;
  }

  /** The stream may have been replaced (the connection broke): check before the next write. */
  distrust(): void {
    this.#trusted = false;
    this.#distrusted++;
  }

  /** Compares the stream with what was seen before. Rejects with `unavailable` when it or a witness cannot be reached. */
  look(): Promise<void> {
    this.#looking ??= this.#compare()
      .then(() => this.save())
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  /** Shares what this process has seen. Rejects with `unavailable`. */
  async save(): Promise<void> {
    // One that is under way shares less.
    await this.#sharing;
    if (!this.#unsaved || !this.#trusted || this.accepted === null) return;
    this.#unsaved = false;
    const shared = this.witness.raise({ ...this.seen, accepted: this.accepted });
    this.#sharing = shared.catch(() => {
      this.#unsaved = true;
    });
    await shared;
  }

  /** True if something was stored or taken that was not shared yet. */
  protected get isUnsaved(): boolean {
    return this.#unsaved;
  }

  /** Something was stored or taken: the next `save` shares it. */
  protected note(seen: LogWitness): void {
    this.seen = seen;
    this.#unsaved = true;
    this.#isWriter = true;
  }

  /**
   * Shares what only this process knows to be lost: the witness may have gone back together with its stream. Not of another stream in its place:
   * that may be a restored backup, whose sequences it must not be measured by.
   */
  protected async shareLoss(seen: LogWitness, now: Pick<LogView, 'incarnation'>): Promise<void> {
    if (!this.#isWriter || this.accepted === null || seen.incarnation !== now.incarnation) return;
    await this.witness.raise({ ...seen, accepted: this.accepted });
  }

  /** What is wrong with the stream, once it is certain; before that, that it is being checked. `null` if nothing is wrong. */
  problem(): (Regression & { readonly certain: boolean }) | null {
    const doubt = this.#doubt;
    if (doubt !== null && this.clock.monotonic() - doubt.since >= believeMs) return { ...doubt.regression, certain: true };
    return this.#trusted ? null : { text: `${this.name} is being checked`, certain: false };
  }

  /** Throws `unavailable` unless the stream has all that was seen of it. */
  async check(): Promise<void> {
    const doubt = await this.unlessTrusted();
    if (doubt !== null) throw new NatterError('unavailable', doubt, { retryAfterMs: 1_000 });
  }

  /** Why the stream cannot be trusted, also after one more look. */
  protected async unlessTrusted(): Promise<string | null> {
    if (!this.#trusted) await this.look().catch(() => {});
    return this.#trusted ? null : (this.#doubt?.regression.text ?? `${this.name} cannot be checked now`);
  }

  /** How the stream has lost what was seen of it; `null` if nothing shows that it has. */
  protected abstract regression(): Promise<Regression | null>;

  async #compare(): Promise<void> {
    const asked = this.#distrusted;
    const regression = await this.regression();
    this.#trusted = regression === null && asked === this.#distrusted;
    this.#doubt = regression === null ? null : { since: this.#doubt?.since ?? this.clock.monotonic(), regression };
  }
}
