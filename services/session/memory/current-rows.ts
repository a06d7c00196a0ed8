import { LRUCache } from 'lru-cache';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { IndexView } from '../../../shared/ports/session-index.ts';

/** Rows that a host keeps current. */
const currentRows = 1_000;

/**
 * The index rows of the sessions whose turns run here, as of their last commits: the index itself follows some time later. This host makes
 * each of those commits, so no row is read from the broker.
 */
export class CurrentRows {
  readonly #view: Pick<IndexView, 'get'>;
  readonly #rows = new LRUCache<SessionKey, IndexRow>({ max: currentRows });

  constructor(view: Pick<IndexView, 'get'>) {
    this.#view = view;
  }

  /** `undefined`: it must be read. */
  get(key: SessionKey): IndexRow | undefined {
    return this.#rows.get(key);
  }

  /** Follows a commit that was just recorded. A row is made when a turn runs, if the index has caught up with the commit before. */
  note(commit: RecordedCommit, isRunning: boolean): void {
    const { key, rev } = commit;
    const known = this.#rows.get(key);
    if (known === undefined && !isRunning) return;
    const before = known ?? this.#view.get(key) ?? null;
    if ((before?.rev ?? 0) === rev - 1) this.#rows.set(key, summarize(before, commit));
    else this.#rows.delete(key);
  }

  /** The session has left memory: others may go on with it. */
  forget(key: SessionKey): void {
    this.#rows.delete(key);
  }
}
