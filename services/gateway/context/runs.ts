import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { type FoundRun, failedRun, isOver, type Run, unknownRun } from '../../../shared/domain/projections/run.ts';
import type { CommandAnswer } from '../../../shared/domain/session/envelope.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { findRun, followRun } from '../../../shared/runtime/session-tools/find-run.ts';
import type { EventFeed } from './event-feed.ts';

/** A hint for callers whose run was not found. */
export const olderRuns = 'of a long session only the latest runs are looked for; older ones are read with its messages';

/** How long a caller waits for a run, ms, and for what; default: that it is over. */
export interface Wait {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly isEnough?: ((run: Run | null) => boolean) | undefined;
}

/** Finds runs in the log and waits for them, on any replica (A10/122). */
export class Runs {
  readonly #ports: Ports;
  readonly #feed: EventFeed;
  readonly #clock: Clock;
  /** Runs that this replica accepted recently: they may not be in the log yet. */
  readonly #accepted = new LRUCache<string, Run>({ max: limits.waitingCalls });

  constructor(ports: Ports, feed: EventFeed) {
    this.#ports = ports;
    this.#feed = feed;
    this.#clock = ports.clock;
  }

  note(key: SessionKey, run: Run): void {
    this.#accepted.set(`${key} ${run.runId}`, run);
  }

  /** What was recently noted of a run. */
  noted(key: SessionKey, runId: string): Run | null {
    return this.#accepted.get(`${key} ${runId}`) ?? null;
  }

  /** The run as it is now; `null` if nothing is known of it after the sequence `after`. */
  async status(key: SessionKey, runId: string, after = 0): Promise<Run | null> {
    return (await findRun(this.#ports, key, runId, after)).run ?? this.noted(key, runId);
  }

  /** The run once it is over, or as it is after `waitMs` (`null`: unknown still). */
  async await(
    key: SessionKey,
    runId: string,
    { after = 0, waitMs, signal, isEnough }: { after?: number } & Wait,
  ): Promise<Run | null> {
    const found = await findRun(this.#ports, key, runId, after);
    const run = await this.#follow(key, runId, found, { waitMs, signal, isEnough });
    return run ?? this.noted(key, runId);
  }

  /**
   * The outcome of a command that was just published. `after`: the feed's position before that. `answer`: the host's answer, the only source
   * for refusals and duplicates, which record nothing. `seen`: nothing recorded up to there is reported.
   */
  async outcome(
    key: SessionKey,
    runId: string,
    wait: {
      after: number;
      seen: number;
      answer: Promise<CommandAnswer | null>;
      duplicate: boolean;
    } & Wait,
  ): Promise<Run> {
    const { after, seen, answer, duplicate, waitMs, isEnough = isOver } = wait;
    const over = new AbortController();
    const signal = AbortSignal.any([wait.signal, over.signal]);
    const follow = (found: FoundRun) => this.#follow(key, runId, found, { waitMs, signal, isEnough });
    const repeated = async () => follow(await findRun(this.#ports, key, runId, seen));
    const recorded = duplicate ? repeated() : follow(unknownRun(runId, after));
    const answered = answer.then(async (told): Promise<Run | null> => {
      if (told?.outcome === 'refused')
        return failedRun(runId, told.code ?? 'refused', told.message ?? 'the session refuses this');
      if (told?.outcome !== 'duplicate') return recorded;
      const { run } = await findRun(this.#ports, key, runId, seen);
      if (run !== null) return isEnough(run) ? run : recorded;
      return failedRun(runId, 'duplicate_message', 'a message with this messageId is in the session already; nothing was added');
    });
    const message = "no outcome yet; the run continues: request it again, or read the session's messages";
    const timeout: Run = { runId, status: 'timeout', error: { code: 'timeout', message } };
    try {
      const run = await Promise.race([recorded, answered]);
      return run !== null && isEnough(run) ? run : timeout;
    } catch (error) {
      // The command is stored by now: a 503 would make the caller send it again.
      if (hasCode(error, 'unavailable')) return timeout;
      throw error;
    } finally {
      over.abort();
    }
  }

  async #follow(key: SessionKey, runId: string, found: FoundRun, wait: Wait): Promise<Run | null> {
    const follow = (after: number, until: AbortSignal) => this.#feed.follow({ after, key, signal: until });
    return followRun(this.#clock, follow, { runId, found, ...wait });
  }
}
