import type { CallResult } from '../../../shared/domain/session/commands.ts';
import type { Clock } from '../../../shared/kit/clock.ts';

/** Bytes and milliseconds for which results wait for the step that uses them. */
export const heldResults = { bytes: 64 * 1024, ms: 1_000 } as const;

export interface HeldResultsOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Aborts when the attempt ends: what is held then is dropped, and the next attempt makes the calls again. */
  readonly signal: AbortSignal;
  record(result: CallResult): Promise<unknown>;
}

/**
 * Results of calls that only read. They are recorded in the commit of the step that uses them, which saves one commit for each; a step that
 * takes its time goes without them. Bounded in bytes and in time (I11).
 */
export class HeldResults {
  readonly #options: HeldResultsOptions;
  readonly #results = new Map<string, CallResult>();
  /** Calls that are at their end, recorded or not. */
  readonly #ended = new Set<string>();
  #isTimed = false;

  constructor(options: HeldResultsOptions) {
    this.#options = options;
  }

  /** Those that are not recorded yet. */
  get all(): readonly CallResult[] {
    return [...this.#results.values()];
  }

  /** True if the call's result is held, or was: a turn that was looked at before it was recorded shows the call as open still. */
  has(callId: string): boolean {
    return this.#ended.has(callId);
  }

  /** Holds a result; false if it does not fit. */
  add(result: CallResult): boolean {
    const bytes = [...this.all, result].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    if (bytes > heldResults.bytes) return false;
    this.#results.set(result.callId, result);
    this.#ended.add(result.callId);
    if (!this.#isTimed) void this.#recordInTime();
    return true;
  }

  /** Records each that is held, on its own. */
  async record(): Promise<void> {
    const results = this.all;
    for (const result of results) await this.#options.record(result);
    this.drop(results);
  }

  /** Forgets what is recorded. */
  drop(results: readonly CallResult[]): void {
    for (const { callId } of results) this.#results.delete(callId);
  }

  async #recordInTime(): Promise<void> {
    const { clock, signal } = this.#options;
    this.#isTimed = true;
    await clock.sleep(heldResults.ms, signal);
    this.#isTimed = false;
    // If it fails, the step records them.
    if (!signal.aborted) await this.record().catch(() => {});
  }
}
