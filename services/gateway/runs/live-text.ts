import { outsideMarkers, silenceFilter } from '../../../shared/domain/values/silence.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Delta } from '../../../shared/ports/live.ts';

/** A visible piece of live text: what people see of the step's text from `offset` up to `end`. */
export interface VisibleDelta extends Delta {
  readonly end: number;
}

/**
 * The live text of one stream without silence markers (A6/79), and only of turns that `shows` admits: earlier pieces are held back. `offset`
 * and `end` count characters of the text as the model writes it, so they are the same on every stream. A stream that starts in the middle
 * may be inside a marker: it starts at the first character that cannot be part of one. `null`: nothing visible yet.
 */
export const visibleText = (shows: (turnId: string) => boolean = () => true): ((delta: Delta) => VisibleDelta | null) => {
  const withoutMarkers = markerFilter();
  let held: Delta | null = null;
  return (delta) => {
    const all: Delta = held !== null && follows(held, delta) ? { ...held, text: held.text + delta.text } : delta;
    held = null;
    if (shows(delta.turn.id)) return withoutMarkers(all);
    if (all.text.length <= limits.modelOutputBytes) held = all;
    return null;
  };
};

const nameOf = ({ turn, step }: Delta): string => JSON.stringify([turn.id, turn.attempt, step]);
const follows = (one: Delta, next: Delta): boolean =>
  nameOf(one) === nameOf(next) && next.offset === one.offset + one.text.length;

const markerFilter = (): ((delta: Delta) => VisibleDelta | null) => {
  let filter = silenceFilter();
  let current = '';
  /** Where the next piece should start, and how far the text is visible. */
  let taken = 0;
  let shown = 0;
  let astray = false;

  return (delta) => {
    const { turn, step, offset, text } = delta;
    const name = nameOf(delta);
    if (name !== current || offset !== taken) {
      filter = silenceFilter();
      current = name;
      astray = offset > 0;
      shown = offset;
    }
    taken = offset + text.length;
    let known = text;
    if (astray) {
      const start = outsideMarkers(text);
      if (start === -1) return null;
      astray = false;
      shown = offset + start;
      known = text.slice(start);
    }
    const visible = filter.push(known);
    if (visible === '') return null;
    const from = shown;
    shown = taken - filter.held();
    return { turn, step, offset: from, text: visible, end: shown };
  };
};
