import { createModels } from '../../shared/adapters/model/create.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import { runAll } from '../../shared/kit/run-all.ts';
import { Signal } from '../../shared/kit/signal.ts';
import type { Model } from '../../shared/ports/model.ts';
import { startLeasedWork, type Tenure } from '../../shared/runtime/leased-work.ts';
import { LogFollower } from '../../shared/runtime/log-follower.ts';
import { witnessedPosition } from '../../shared/runtime/log-witness.ts';
import type { Service } from '../../shared/runtime/service.ts';
import type { StoreConfig } from '../../shared/runtime/transcripts/session-map.ts';
import { type IntrospectionPorts, startIntrospection } from './introspection/start.ts';
import { startMemory } from './memory/project-memory.ts';
import { type RetentionOptions, type RetentionPorts, startRetention } from './retention/retention.ts';
import { startScrubber } from './scrub/scrub.ts';
import { createProjection, type Projection } from './session-index/projection.ts';
import { startMirror } from './transcripts/mirror.ts';

export interface CheckpointOptions {
  readonly ports: IntrospectionPorts & RetentionPorts;
  readonly log: Logger;
  readonly member: string;
  /** Also keeps a readable mirror under `session.store` (A2/19). */
  readonly mirror?: StoreConfig;
  /** Also checks the whole log from time to time (F13). */
  readonly scrub?: Config['scrub'];
  /** Also removes sessions that are due (B1, B2, D10). */
  readonly retention?: RetentionOptions['session'];
  /** Also introspects sessions (A7/80). */
  readonly introspection?: {
    readonly config: Config;
    /** The environment with the API keys of model providers. */
    readonly env: Readonly<Record<string, string | undefined>>;
    /** Hidden in what the model writes. Default: none. */
    readonly secrets?: readonly string[];
    /** Default: `introspection.model`, else `agent.model`. */
    readonly model?: Model;
  };
}

/** Name of the lease. */
const name = 'checkpoint-index';
/** Milliseconds between two reads of the log. */
const readPauseMs = 20;
/**
 * Milliseconds between two flushes: the least, for each row of the last one, and at most. Every row waits for the disk, so those that change
 * often are written less often the more there are; lists do not wait for them (ADR 24).
 */
const flushPauseMs = 250;
const flushPauseRowMs = 5;
const flushPauseMsMax = 5_000;
/** How often a pause checks whether the projection is full, ms. */
const restMs = 50;

/** Derives the session index and long-term memory from the log, and optionally the mirror of transcripts and introspection. */
export const startCheckpoint = async (options: CheckpointOptions): Promise<Service> => {
  const { ports, log, member, mirror: config } = options;
  const counts = { commits_total: 0, damaged_commits_total: 0, rows_written_total: 0, flushes_total: 0 };
  let projection: Projection | null = null;

  const work = async ({ held, stopping, healthy }: Tenure): Promise<void> => {
    const follower = new LogFollower({
      events: ports.events,
      start: () => witnessedPosition(ports, name, () => ports.index.position()),
      readPauseMs,
    });
    const current = createProjection({ ...ports, after: await follower.start() });
    projection = current;
    const folded = new Signal();
    const flushed = new Signal();
    const isFull = () => current.dirtyRows() >= limits.indexDirtyRows;
    healthy();

    const fold = (until: AbortSignal): Promise<void> =>
      follower.run(until, async (commit, gap) => {
        await current.fold(commit);
        counts.commits_total += 1;
        counts.damaged_commits_total += gap === null ? 0 : 1;
        folded.notify();
        while (isFull() && !until.aborted) await flushed.wait(until);
      });
    /**
     * Writes one batch and resolves with its number of rows. A failure ends this round: the next one starts at the index's
     * position.
     */
    const flush = async (): Promise<number> => {
      const rows = current.dirtyRows();
      await current.flush();
      counts.rows_written_total += rows;
      counts.flushes_total += 1;
      flushed.notify();
      return rows;
    };
    /** Writes the first change after a pause at once, and later ones together, after the pause or when the projection is full. */
    const write = async (until: AbortSignal): Promise<void> => {
      while (!until.aborted) {
        while (!current.isDirty() && !until.aborted) await folded.wait(until);
        if (until.aborted) return;
        const pauseMs = Math.min(flushPauseMs + flushPauseRowMs * (await flush()), flushPauseMsMax);
        for (let restedMs = 0; restedMs < pauseMs && !isFull() && !until.aborted; restedMs += restMs) {
          await ports.clock.sleep(restMs, until);
        }
      }
    };
    await runAll(stopping, fold, write);
    if (!held.aborted && current.isDirty()) await flush();
  };

  const leased = startLeasedWork({ name, member, leases: ports.leases, clock: ports.clock, log, work });
  const mirror = config && startMirror({ config, ports, log, member });
  const memory = startMemory({ ports, log, member });
  const scrubber = options.scrub?.enabled ? startScrubber({ ports, log, member, config: options.scrub }) : undefined;
  const retention = options.retention && startRetention({ ports, log, member, session: options.retention });
  const introspection = await startIntrospectionIfEnabled(options);
  return {
    name: 'checkpoint',
    problems: () => [...leased.problems(), ...memory.problems(), ...(introspection?.problems() ?? [])],
    warnings: () => [...(introspection?.warnings?.() ?? []), ...(scrubber?.warnings?.() ?? [])],
    metrics: () => ({
      ...counts,
      active: leased.active() ? 1 : 0,
      position: projection?.written() ?? 0,
      lag: projection ? projection.position() - projection.written() : 0,
      rows_dirty: projection?.dirtyRows() ?? 0,
      ...mirror?.metrics(),
      ...memory.metrics(),
      ...scrubber?.metrics(),
      ...retention?.metrics(),
      ...introspection?.metrics(),
    }),
    stop: async (deadlineMs) => {
      const all = [leased, mirror, memory, scrubber, retention, introspection];
      await Promise.all(all.map(async (work) => work?.stop(deadlineMs)));
    },
  };
};

const startIntrospectionIfEnabled = async ({
  introspection,
  ...options
}: CheckpointOptions): Promise<Omit<Service, 'name'> | undefined> => {
  if (!introspection?.config.introspection.enabled) return undefined;
  const { config, env, secrets } = introspection;
  const model = introspection.model ?? createModels(config, env, options.ports.clock, secrets)(config.introspection.model);
  return startIntrospection({ ...options, config, model });
};
