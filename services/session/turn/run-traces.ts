import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Commit } from '../../../shared/domain/session/envelope.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';

/**
 * The trace of each run: that of its first commit, so that a turn that was queued, or is resumed on another host, continues the trace of the
 * message that it answers. Remembered as commits are written, otherwise read from the log.
 */
export class RunTraces {
  readonly #events: Pick<EventLog, 'read'>;
  readonly #known = new LRUCache<string, string>({ max: limits.tracedRuns });

  constructor(events: Pick<EventLog, 'read'>) {
    this.#events = events;
  }

  note({ correlationId, traceparent }: Pick<Commit, 'correlationId' | 'traceparent'>): void {
    if (traceparent !== undefined && !this.#known.has(correlationId)) this.#known.set(correlationId, traceparent);
  }

  /** `null`: the run has no trace, or the log cannot be read now; no turn waits for its trace. `after`: a sequence before the run's start. */
  async of(key: SessionKey, runId: string, after: number): Promise<string | null> {
    const known = this.#known.get(runId);
    if (known !== undefined) return known;
    try {
      let looked = 0;
      for await (const commit of this.#events.read(key, { after })) {
        if (commit.correlationId === runId && commit.traceparent !== undefined) return commit.traceparent;
        if (++looked === limits.runSearchCommits) return null;
      }
    } catch {}
    return null;
  }
}
