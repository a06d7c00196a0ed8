import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { linesOf, type TranscriptLine } from '../../../shared/domain/projections/transcript-line.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { runAll } from '../../../shared/kit/run-all.ts';
import { Signal } from '../../../shared/kit/signal.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { DurableCursor } from '../../../shared/runtime/durable-cursor.ts';
import { startLeasedWork, type Tenure } from '../../../shared/runtime/leased-work.ts';
import { LogFollower } from '../../../shared/runtime/log-follower.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { TranscriptFiles } from '../../../shared/runtime/transcripts/files.ts';
import type { StoreConfig } from '../../../shared/runtime/transcripts/session-map.ts';
import { createSessionMaps } from './session-maps.ts';
import { createTranscriptBatch } from './transcript-batch.ts';

export interface MirrorOptions {
  readonly config: StoreConfig;
  readonly ports: Pick<Ports, 'clock' | 'events' | 'index' | 'cursors' | 'leases'>;
  readonly log: Logger;
  readonly member: string;
}

/** Name of the lease. */
const name = 'checkpoint-mirror';
/** Milliseconds between two reads of the log, and between two writes. */
const readPauseMs = 20;
const writePauseMs = 250;
/** Milliseconds between two updates of the maps; at most a twentieth of the time is spent writing them. */
const mapPauseMs = { least: 500, most: 60_000 };
const mapRest = 20;

/**
 * The cursor belongs to the files of one machine and folder: another one starts from the beginning, and existing lines are
 * skipped.
 */
const cursorOf = (store: string): string =>
  `${name}-${createHash('sha256')
    .update(JSON.stringify([hostname(), store]))
    .digest('hex')
    .slice(0, 16)}`;

/** The lines of a key before a sequence. Stops where the history becomes unreadable. */
async function* linesBefore(events: EventLog, key: SessionKey, seq: number): AsyncGenerator<TranscriptLine> {
  try {
    for await (const commit of events.read(key, { upTo: seq - 1 })) yield* linesOf(commit);
  } catch (error) {
    if (!hasCode(error, 'invalid')) throw error;
  }
}

/**
 * Keeps readable copies of all sessions under `session.store` (A2/8–12, 16, 19). Nothing reads them, and a failure to write shows
 * only in the log and in `mirror_healthy`.
 */
export const startMirror = ({ config, ports, log, member }: MirrorOptions): Omit<Service, 'name' | 'problems'> => {
  const { clock, events } = ports;
  const { store } = config.session;
  const cursorName = cursorOf(store);
  const counts = { mirror_lines_total: 0, mirror_position: 0, mirror_lag: 0, mirror_maps_behind: 0 };

  const work = async ({ held, stopping, healthy }: Tenure): Promise<void> => {
    const cursor = new DurableCursor(ports, cursorName);
    const follower = new LogFollower({ events, start: cursor.load, readPauseMs });
    const after = await follower.start();
    counts.mirror_position = after;
    const view = await ports.index.watch();
    const batch = createTranscriptBatch(after);
    const files = new TranscriptFiles({ store, before: (key, seq) => linesBefore(events, key, seq) });
    const maps = createSessionMaps(view, config);
    const batchChanged = new Signal();
    const written = new Signal();
    const changed = new Signal();

    const read = (until: AbortSignal): Promise<void> =>
      follower.run(until, async (commit) => {
        batch.add(commit);
        cursor.note(commit);
        maps.note(commit.key, commit.seq);
        counts.mirror_maps_behind = maps.behind();
        counts.mirror_lag = commit.seq - counts.mirror_position;
        batchChanged.notify();
        changed.notify();
        while (batch.isFull() && !until.aborted) await written.wait(until);
      });
    /** Files first, then the position: after a crash in between the same lines come again and are skipped. */
    const flush = async (): Promise<void> => {
      const { news, position } = batch.take();
      counts.mirror_lines_total += await files.write(news);
      await cursor.save(position);
      counts.mirror_position = position;
      counts.mirror_lag = batch.position() - position;
      written.notify();
    };
    const write = async (until: AbortSignal): Promise<void> => {
      for (; !until.aborted; await clock.sleep(writePauseMs, until)) {
        await batchChanged.wait(until);
        if (!until.aborted) await flush();
      }
    };
    const keepMaps = async (until: AbortSignal): Promise<void> => {
      for (let pauseMs = 0; !until.aborted; await clock.sleep(pauseMs, until)) {
        while (!maps.hasChanges() && !until.aborted) await changed.wait(until);
        const startedAt = clock.monotonic();
        if (until.aborted) return;
        await maps.write();
        healthy();
        counts.mirror_maps_behind = maps.behind();
        const tookMs = clock.monotonic() - startedAt;
        pauseMs = Math.min(mapPauseMs.most, Math.max(mapPauseMs.least, mapRest * tookMs));
      }
    };
    try {
      await runAll(stopping, read, write, keepMaps);
      if (!held.aborted) await flush();
    } finally {
      await view.close();
    }
  };

  const leased = startLeasedWork({ name, member, leases: ports.leases, clock, log, work });
  return {
    metrics: () => ({
      ...counts,
      mirror_active: leased.active() ? 1 : 0,
      mirror_healthy: leased.problems().length === 0 ? 1 : 0,
    }),
    stop: leased.stop,
  };
};
