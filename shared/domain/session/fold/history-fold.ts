import { NatterError } from '../../../kit/errors.ts';
import type { SessionKey } from '../../keys/session-key.ts';
import { gapBefore, gapText, type HistoryGap, startsAnew } from '../chain.ts';
import type { RecordedCommit } from '../envelope.ts';
import { fold, initialState, type SessionState } from './evolve.ts';

/** The error of a session with a gap. */
export const damaged = (key: SessionKey, gap: HistoryGap): NatterError =>
  new NatterError(
    'damaged',
    `${gapText(gap)} in the log of ${key}, after sequence ${gap.afterSeq}: it is read-only until a person decides; see "natter repair ${key}"`,
  );

/**
 * Folds a history that may have a gap. From the gap on nothing is folded until a commit that starts anew: there a person has decided about the
 * damage, or everything before it was erased.
 */
export class HistoryFold {
  #state: SessionState;
  #gap: HistoryGap | null = null;

  constructor(start: SessionState = initialState) {
    this.#state = start;
  }

  /** The state after the last commit before the gap, if there is one. */
  get state(): SessionState {
    return this.#state;
  }
  /** The gap that nobody has decided about. */
  get gap(): HistoryGap | null {
    return this.#gap;
  }

  /** Throws `AssertionError` for a commit that cannot be folded. */
  take(commit: RecordedCommit): void {
    if (this.#gap !== null && !startsAnew(commit)) return;
    this.#gap = gapBefore(this.#state.position, commit);
    if (this.#gap === null) this.#state = fold(this.#state, commit);
  }

  /** The state of a history without an open gap. Throws `damaged`. */
  whole(key: SessionKey): SessionState {
    if (this.#gap !== null) throw damaged(key, this.#gap);
    return this.#state;
  }
}
