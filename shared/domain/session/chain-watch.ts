import type { SessionKey } from '../keys/session-key.ts';
import { chainStart, gapBefore, type HistoryGap, linkAfter, type ReadLink } from './chain.ts';
import type { RecordedCommit } from './envelope.ts';

/**
 * Compares each commit with the last one that was seen of its session (F13). It remembers at least the most recent `sessions` of them, and
 * at most twice as many: a gap of a session not seen for longer shows elsewhere, when its whole history is read.
 */
export class ChainWatch {
  readonly #sessions: number;
  /** The sessions seen lately, and those seen before. Half of them are forgotten at once, so that no commit has to reorder a list. */
  #links = new Map<SessionKey, ReadLink>();
  #older = new Map<SessionKey, ReadLink>();

  constructor(sessions: number) {
    this.#sessions = sessions;
  }

  /** The next commit of the session must be its first. */
  begin(key: SessionKey): void {
    this.#note(key, { ...chainStart, seq: 0 });
  }

  /** The last commit seen of a session. */
  lastOf(key: SessionKey): ReadLink | undefined {
    return this.#links.get(key) ?? this.#older.get(key);
  }

  /** The gap in front of the commit; `null` also if its session is not remembered. */
  take(commit: RecordedCommit): HistoryGap | null {
    const { key, seq } = commit;
    const last = this.lastOf(key);
    this.#note(key, { ...linkAfter(last ?? chainStart, commit), seq });
    return last === undefined ? null : gapBefore(last, commit);
  }

  #note(key: SessionKey, link: ReadLink): void {
    if (this.#links.size >= this.#sessions && !this.#links.has(key)) [this.#older, this.#links] = [this.#links, new Map()];
    this.#links.set(key, link);
  }
}
