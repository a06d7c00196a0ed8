import { createBell } from '../../shared/kit/bell.ts';
import { startLeasedWork, type Tenure } from '../../shared/kit/leased-work.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import { keepWitness, witnessLog } from '../../shared/kit/log-witness.ts';
import type { Service } from '../../shared/kit/service.ts';
import { together } from '../../shared/kit/together.ts';
import type { Ports } from '../../shared/ports.ts';
import { createProjection, type Projection } from './projection.ts';

export interface CheckpointOptions {
  readonly ports: Pick<Ports, 'clock' | 'events' | 'index' | 'cursors' | 'leases'>;
  readonly log: Logger;
  readonly member: string;
}

/** Name of the lease. */
const name = 'checkpoint-index';
/** Milliseconds between two reads of the log. */
const readPauseMs = 20;
/** Milliseconds between two flushes, and at most so many when they are large: rows that change often are then written less often. */
const flushPauseMs = 250;
const flushPauseMsMax = 750;

/** Derives the session index from the log (step 8b of §3). */
export const startCheckpoint = async ({ ports, log, member }: CheckpointOptions): Promise<Service> => {
  const counts = { commits_total: 0, rows_written_total: 0, flushes_total: 0, flush_failures_total: 0 };
  let projection: Projection | null = null;
  let lastSeq = 0;

  const work = async ({ held, stopping, healthy }: Tenure): Promise<void> => {
    const after = await ports.index.position();
    lastSeq = await witnessLog(ports, { name, position: () => after });
    const current = createProjection({ index: ports.index, events: ports.events, after });
    projection = current;
    const folded = createBell();
    const flushed = createBell();
    healthy();

    const fold = async (until: AbortSignal): Promise<void> => {
      for await (const commit of ports.events.follow({ after, signal: until, pauseMs: readPauseMs })) {
        await current.fold(commit);
        counts.commits_total += 1;
        folded.ring();
        while (current.dirtyRows() >= limits.indexDirtyRows && !until.aborted) await flushed.rung(until);
      }
    };
    /** Writes one batch; a failure leaves it to the next try. Resolves with the number of rows tried. */
    const flush = async (): Promise<number> => {
      const rows = current.dirtyRows();
      try {
        await current.flush();
        counts.rows_written_total += rows;
        counts.flushes_total += 1;
      } catch (error) {
        counts.flush_failures_total += 1;
        log.warn({ err: error, rows }, 'the index waits to be written');
      }
      flushed.ring();
      return rows;
    };
    /** The first change after a pause is written at once, and what comes meanwhile together after the pause. */
    const write = async (until: AbortSignal): Promise<void> => {
      while (!until.aborted) {
        if (!current.isDirty()) await folded.rung(until);
        if (until.aborted) return;
        const rows = await flush();
        await ports.clock.sleep(Math.min(flushPauseMs + rows, flushPauseMsMax), until);
      }
    };
    const saw = (seen: number) => {
      lastSeq = seen;
    };
    await together(stopping, fold, write, (until) => keepWitness(ports, { name, position: current.position }, saw, until));
    if (!held.aborted && current.isDirty()) await flush();
  };

  const leased = startLeasedWork({ name, member, leases: ports.leases, clock: ports.clock, log, work });
  return {
    name: 'checkpoint',
    problems: leased.problems,
    metrics: () => ({
      ...counts,
      active: leased.active() ? 1 : 0,
      position: projection?.written() ?? 0,
      lag: leased.active() ? Math.max(0, lastSeq - (projection?.written() ?? 0)) : 0,
      rows_dirty: projection?.dirtyRows() ?? 0,
    }),
    stop: leased.stop,
  };
};
