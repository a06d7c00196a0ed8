import { toPlain } from '../../shared/domain/session/evolve.ts';
import { errorMessage } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Snapshots } from '../../shared/ports/snapshots.ts';
import { about } from './about.ts';
import type { SessionActor } from './session-actor.ts';

/** Snapshots written at a time by a host that stops. */
const writers = 16;

/** Writes snapshots of sessions: one in 64 commits, and the rest when the host stops. */
export class SnapshotWriter {
  readonly #snapshots: Snapshots;
  readonly #log: Logger;
  /** How many it has written. */
  written = 0;

  constructor(snapshots: Snapshots, log: Logger) {
    this.#snapshots = snapshots;
    this.#log = log;
  }

  isDue(rev: number): boolean {
    return rev % limits.snapshotCommits === 0;
  }

  /** Never rejects: the log has it all. */
  async write(actor: SessionActor): Promise<void> {
    try {
      await this.#snapshots.put(actor.key, toPlain(actor.state));
      this.written++;
    } catch (error) {
      this.#log.debug({ ...about(actor), reason: errorMessage(error) }, 'snapshot not written; the log has it all');
    }
  }

  /** Writes one of each session that has changed since its last, so that the next host loads at once; as long as there is time. */
  async writeAll(actors: Iterable<SessionActor>, hasTime: () => boolean): Promise<void> {
    const next = [...actors].filter(({ state }) => !this.isDue(state.position.rev)).values();
    const write = async (): Promise<void> => {
      for (const actor of next) if (hasTime()) await this.write(actor);
    };
    await Promise.all(Array.from({ length: writers }, write));
  }
}
