import { toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Snapshots } from '../../../shared/ports/snapshots.ts';
import { logFields } from './log-fields.ts';
import type { SessionActor } from './session-actor.ts';

/** Number of snapshots a stopping host writes at the same time. */
const writers = 16;

/** Writes snapshots of sessions: every 64 commits, and of all changed sessions when the host stops. */
export class SnapshotWriter {
  readonly #snapshots: Snapshots;
  readonly #log: Logger;
  /** Number of snapshots written. */
  written = 0;

  constructor(snapshots: Snapshots, log: Logger) {
    this.#snapshots = snapshots;
    this.#log = log;
  }

  isDue(rev: number): boolean {
    return rev % limits.snapshotCommits === 0;
  }

  /** Never rejects: the log has it all. Nothing is written of a session without commits. */
  async write(session: SessionActor): Promise<void> {
    if (session.state.position.rev === 0) return;
    try {
      await this.#snapshots.put(session.key, toPlain(session.state));
      this.written++;
    } catch (error) {
      this.#log.debug({ ...logFields(session), reason: errorMessage(error) }, 'snapshot not written; the log has it all');
    }
  }

  /** Writes one of each session that has changed since its last snapshot, so that the next host loads it quickly, while there is time. */
  async writeAll(sessions: Iterable<SessionActor>, hasTime: () => boolean): Promise<void> {
    const next = [...sessions].filter(({ state }) => !this.isDue(state.position.rev)).values();
    const write = async (): Promise<void> => {
      for (const session of next) if (hasTime()) await this.write(session);
    };
    await Promise.all(Array.from({ length: writers }, write));
  }
}
