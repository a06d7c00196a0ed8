import type { SessionKey } from '../keys/session-key.ts';
import { chainStart, gapBefore, type HistoryGap, linkAfter, type ReadLink } from './chain.ts';
import type { RecordedCommit } from './envelope.ts';

/**
 * Compares each commit with the last one that was seen of its session (F13). It remembers the most recent `sessions` of them: a gap of a
 * session that was not seen for longer shows elsewhere, to whoever reads that session's whole history.
 */
export class ChainWatch {
  readonly #sessions: number;
  readonly #links = new Map<SessionKey, ReadLink>();

  constructor(sessions: number) {
    this.#sessions = sessions;
  }

  /** The next commit of the session must be its first. */
  begin(key: SessionKey): void {
    this.#links.set(key, { ...chainStart, seq: 0 });
  }

  /** The last commit seen of a session. */
  lastOf(key: SessionKey): ReadLink | undefined {
    return this.#links.get(key);
  }

  /** The gap in front of the commit; `null` also if its session is not remembered. */
  take(commit: RecordedCommit): HistoryGap | null {
    const { key, seq } = commit;
    const last = this.#links.get(key);
    this.#links.delete(key);
    this.#links.set(key, { ...linkAfter(last ?? chainStart, commit), seq });
    const [oldest] = this.#links.keys();
    if (this.#links.size > this.#sessions && oldest !== undefined) this.#links.delete(oldest);
    return last === undefined ? null : gapBefore(last, commit);
  }
}
