import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Run } from '../../../shared/domain/projections/run.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { findRun, followRun } from '../../../shared/runtime/session-tools/find-run.ts';
import type { EventFeed } from './event-feed.ts';
import { type Expectation, ExpectedRun, type Recorded } from './expected-run.ts';

/** A hint for callers whose run was not found. */
export const olderRuns = 'of a long session only the latest runs are looked for; older ones are read with its messages';

/** How long a caller waits for a run, and for what. */
export type Wait = Omit<Expectation, 'seen'>;

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
    return (await this.#recorded(key, runId, { after, waitMs, signal, isEnough })) ?? this.noted(key, runId);
  }

  /**
   * What becomes of a command that is published next; call its `end` at last. Throws `NatterError('unavailable')` before the log has answered,
   * `'overloaded'` when too many calls wait.
   */
  expect(key: SessionKey, runId: string, expectation: Expectation): ExpectedRun {
    return new ExpectedRun({ ports: this.#ports, feed: this.#feed, recorded: this.#recorded }, key, runId, expectation);
  }

  readonly #recorded: Recorded = async (key, runId, { after, ...wait }) => {
    const found = await findRun(this.#ports, key, runId, after);
    const follow = (position: number, until: AbortSignal) => this.#feed.follow({ after: position, key, signal: until });
    return followRun(this.#clock, follow, { runId, found, ...wait });
  };
}
