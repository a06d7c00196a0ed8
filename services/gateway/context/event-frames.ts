import type { HistoryGap } from '../../../shared/domain/session/chain.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventType } from '../../../shared/domain/session/events.ts';
import { afterCommit, type Cursor, eventsAfter, formatCursor } from '../http/cursor.ts';

/** One event as it goes over a stream. */
export interface EventFrame {
  readonly index: number;
  readonly type: EventType;
  readonly text: string;
}

/** Frames of commits in one format, made once for all streams and released with the commit. */
export class EventFrames {
  readonly #form: (type: string, data: object, id: string) => string;
  readonly #made = new WeakMap<RecordedCommit, readonly EventFrame[]>();

  constructor(form: (type: string, data: object, id: string) => string) {
    this.#form = form;
  }

  of(commit: RecordedCommit): readonly EventFrame[] {
    const made = this.#made.get(commit);
    if (made) return made;
    const frames = eventsAfter(afterCommit(commit.seq - 1), commit).map((event) => ({
      index: event.index,
      type: event.type,
      text: this.#form(event.type, event, event.id),
    }));
    this.#made.set(commit, frames);
    return frames;
  }

  /** Reports what the store has lost in front of this commit (F13). A copy of it may be the only one: unlike a gap, nothing is to be forgotten. */
  damage({ key, seq }: RecordedCommit, { reason, fromRev, toRev }: HistoryGap, place: Cursor): string {
    return this.#form('damage', { type: 'damage', key, reason, fromRev, toRev, before: `${seq}.0` }, formatCursor(place));
  }

  /** Reports that the history of a session before this commit was erased (C9); `place` is the client's position after it. */
  gap({ key, seq }: RecordedCommit, place: Cursor): string {
    return this.#form('gap', { type: 'gap', key, before: `${seq}.0` }, formatCursor(place));
  }
}
