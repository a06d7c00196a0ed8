import { isErasure } from '../../../shared/domain/session/chain.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { runAll } from '../../../shared/kit/run-all.ts';
import { Signal } from '../../../shared/kit/signal.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { MemoryNews } from '../../../shared/ports/memory-store.ts';
import { startLeasedWork, type Tenure } from '../../../shared/runtime/leased-work.ts';
import { LogFollower } from '../../../shared/runtime/log-follower.ts';
import { witnessedPosition } from '../../../shared/runtime/log-witness.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { MemoryFold, memoryHeadlines } from './fold.ts';

export interface MemoryProjectionOptions {
  readonly ports: Pick<Ports, 'clock' | 'events' | 'cursors' | 'leases' | 'memory'>;
  readonly log: Logger;
  readonly member: string;
}

/** Name of the lease. */
const name = 'checkpoint-memory';
/**
 * Milliseconds between two reads of the log, between two writes, and between two writes of the position when nothing is
 * remembered.
 */
const readPauseMs = 20;
const writePauseMs = 100;
const remindMs = 2_000;
/** Unwritten memories before reading pauses, and how long a replica may lag, ms. */
const mostNews = 2_000;
const replicaMs = 5_000;
const lookMs = 50;

/**
 * Derives long-term memory from the log (A7/82). Entries are written before the position, so after a crash the same commits are
 * folded again and change nothing. Resetting the position (`natter memory rebuild`) makes it read the whole log again.
 */
export const startMemory = ({ ports, log, member }: MemoryProjectionOptions): Omit<Service, 'name'> => {
  const { clock, events, memory } = ports;
  const counts = { memory_entries: 0, memory_position: 0, memory_lag: 0, memory_written_total: 0 };

  const work = async ({ held, stopping, healthy }: Tenure): Promise<void> => {
    const follower = new LogFollower({
      events,
      start: () => witnessedPosition(ports, name, () => memory.position()),
      headlines: memoryHeadlines,
      readPauseMs,
    });
    const after = await follower.start();
    const { entries, gone } = await storedAt(ports, after);
    const fold = new MemoryFold(entries, gone);
    const changed = new Signal();
    const flushed = new Signal();
    let position = after;
    let written = after;
    healthy();

    const follow = (until: AbortSignal): Promise<void> =>
      follower.run(until, async (commit) => {
        fold.add(commit);
        position = commit.seq;
        counts.memory_lag = position - written;
        // An eraser waits for the position to pass the erasure.
        if (fold.news > 0 || isErasure(commit)) changed.notify();
        while (fold.news >= mostNews && !until.aborted) await flushed.wait(until);
      });
    const flush = async (): Promise<void> => {
      const reached = position;
      const news = fold.takeNews();
      await memory.put(news, reached);
      written = reached;
      counts.memory_written_total += news.entries.length + news.gone.length;
      Object.assign(counts, { memory_entries: fold.size, memory_position: written, memory_lag: position - written });
      flushed.notify();
    };
    const look = async (): Promise<void> => {
      if ((await memory.position()) === written) return;
      throw new NatterError('unavailable', 'the memory is to be rebuilt from the log');
    };
    const write = async (until: AbortSignal): Promise<void> => {
      for (; !until.aborted; await clock.sleep(writePauseMs, until)) {
        await changed.wait(until);
        if (!until.aborted) await (position > written ? flush() : look());
      }
    };
    /** Writes the position from time to time even when nothing is remembered. */
    const remind = async (until: AbortSignal): Promise<void> => {
      for (; !until.aborted; await clock.sleep(remindMs, until)) changed.notify();
    };
    await runAll(stopping, follow, write, remind);
    if (!held.aborted && position > written) await flush();
  };

  const leased = startLeasedWork({ name, member, leases: ports.leases, clock, log, work });
  return {
    problems: leased.problems,
    metrics: () => ({ ...counts, memory_active: leased.active() ? 1 : 0 }),
    stop: leased.stop,
  };
};

/** Everything stored, at least up to a position. Throws `unavailable` while a replica has less. */
const storedAt = async ({ clock, memory }: MemoryProjectionOptions['ports'], position: number): Promise<MemoryNews> => {
  const view = await memory.watch();
  try {
    for (const until = clock.monotonic() + replicaMs; view.position() < position; await clock.sleep(lookMs)) {
      if (clock.monotonic() >= until) throw new NatterError('unavailable', 'the memory cannot be read up to its position yet');
    }
    return { entries: view.list({ scopes: 'all', limit: Number.POSITIVE_INFINITY }), gone: view.gone() };
  } finally {
    await view.close();
  }
};
