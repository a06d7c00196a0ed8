import type { EventType } from '../../shared/session/events.ts';
import type { RecordedCommit } from '../../shared/wire/envelope.ts';
import { afterCommit, eventsAfter } from './cursor.ts';
import { sseFrame } from './sse.ts';

/** One event as it goes over a stream. */
export interface EventFrame {
  readonly index: number;
  readonly type: EventType;
  readonly text: string;
}

/** Frames of commits, made once however many streams they go to; forgotten with the commit. */
export class EventFrames {
  readonly #made = new WeakMap<RecordedCommit, readonly EventFrame[]>();

  of(commit: RecordedCommit): readonly EventFrame[] {
    const made = this.#made.get(commit);
    if (made) return made;
    const frames = eventsAfter(afterCommit(commit.seq - 1), commit).map((event) => ({
      index: event.index,
      type: event.type,
      text: sseFrame(event.type, event, event.id),
    }));
    this.#made.set(commit, frames);
    return frames;
  }
}
