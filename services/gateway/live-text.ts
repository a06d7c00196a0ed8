import type { Delta } from '../../shared/ports.ts';
import { outsideMarkers, silenceFilter } from '../../shared/routing/silence.ts';

/** A piece of live text as people get to see it: what there is to see of the step's text from `offset` up to `end`. */
export interface VisibleDelta extends Delta {
  readonly end: number;
}

/**
 * Takes silence markers out of one stream's live text (A6/79). `offset` and `end` count the characters of the text as the model writes it,
 * so they are the same on every stream, whenever it began. Whoever joins in the middle, or has missed a piece, may be in the middle of a
 * marker: such a text is taken up at its first character that no marker has. `null`: nothing to see yet.
 */
export const visibleText = (): ((delta: Delta) => VisibleDelta | null) => {
  let filter = silenceFilter();
  let current = '';
  /** Where the next piece should begin, and up to where all is seen. */
  let taken = 0;
  let shown = 0;
  let astray = false;

  return ({ turn, step, offset, text }) => {
    const name = JSON.stringify([turn.id, turn.attempt, step]);
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
