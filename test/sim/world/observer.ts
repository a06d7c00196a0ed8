import type { InMemorySystem } from '../../../shared/adapters/in-memory/open.ts';
import { openIndexView } from '../../../shared/adapters/kv/index-view.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import type { IndexView } from '../../../shared/ports/session-index.ts';
import { damagedKeys, type History } from '../history.ts';

/** Somebody outside who reads the log and the index and says whether the system has come to rest. */
export class Observer {
  readonly #rows = new Map<SessionKey, IndexRow>();
  readonly #approvals = new Map<SessionKey, string>();
  #view: IndexView | null = null;
  #seen = 0;

  readonly #recorder: Pick<History, 'commits' | 'damages'>;

  constructor(system: InMemorySystem, clock: Clock, recorder: Pick<History, 'commits' | 'damages'>) {
    this.#recorder = recorder;
    void openIndexView(system.buckets.index, clock).then((view) => {
      this.#view = view;
    });
  }

  look(commits: readonly RecordedCommit[]): void {
    for (const commit of commits.slice(this.#seen)) {
      this.#rows.set(commit.key, summarize(this.#rows.get(commit.key) ?? null, commit));
      for (const event of commit.events)
        if (event.type === 'approval_requested') this.#approvals.set(commit.key, event.approvalId);
    }
    this.#seen = commits.length;
  }

  /** True when no turn runs or waits for a person, and the index shows all that is in the log; but for sessions that are read-only. */
  isAtRest(): boolean {
    return this.#alive().every(
      ({ key, seq, status }) => (status === 'idle' || status === 'inactive') && this.#view?.get(key)?.seq === seq,
    );
  }

  /** Approvals that somebody has to answer before their session can go on. */
  waiting(): { key: SessionKey; approvalId: string }[] {
    return this.#alive().flatMap(({ key, status }) => {
      const approvalId = this.#approvals.get(key);
      return status === 'awaiting_approval' && approvalId !== undefined ? [{ key, approvalId }] : [];
    });
  }

  #alive(): IndexRow[] {
    const readOnly = damagedKeys(this.#recorder);
    return [...this.#rows.values()].filter(({ key }) => !readOnly.has(key));
  }

  index(): IndexRow[] {
    return [...(this.#view?.rows() ?? [])];
  }
}
