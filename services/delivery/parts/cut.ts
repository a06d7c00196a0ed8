import { limits } from '../../../shared/kit/limits.ts';
import type { Cut } from '../../../shared/ports/custody-log.ts';
import type { PartLimit } from '../../../shared/ports/outlet.ts';
import { closingOf, type FencedCode, plainShape, shapeOf } from './markdown.ts';
import { shareOf } from './measure.ts';
import { type Place, placesIn, ranks } from './places.ts';

/** A part that ends earlier than this share of what fits is too short for a better kind of place to be worth it. */
const leastShare = 1 / 3;
/** A code fence is opened again only if its two lines take no more of a part than this. */
const fenceShare = 1 / 4;

/** How much of the text behind a part is read as well, to see what stands at its end. */
const aheadCharacters = 500;

type From = Pick<Cut, 'next' | 'fence'>;

/**
 * Where a Markdown text is cut so that each part is within the limit (D12): between paragraphs, else between lines, sentences or words,
 * else between characters as people see them. A code fence that is cut is closed and opened again. What is behind
 * `limits.markdownCharacters`, or more intricate than any text for people, is cut as plain text. Empty if the text fits. After
 * `limits.deliveryParts` cuts it stops, and the last part is too long. Pure: the same text and limit give the same cuts.
 */
export const cutsOf = (text: string, limit: PartLimit): Cut[] => {
  const cuts: Cut[] = [];
  const fits = (from: From, to: Cut): boolean => shareOf(partBetween(text, from, to), limit) <= 1;
  for (let from: From = { next: 0 }; cuts.length < limits.deliveryParts && !fits(from, endOf(text)); ) {
    from = cutAfter(text, from, limit);
    cuts.push(from as Cut);
  }
  return cuts;
};

/** The first cut of what is left of a text. What is left is read as the Markdown that its parts will be. */
const cutAfter = (text: string, from: From, limit: PartLimit): Cut => {
  const fits = (to: Cut): boolean => shareOf(partBetween(text, from, to), limit) <= 1;
  const most = Math.min(text.length, from.next + limits.partCharacters);
  const reach = furthest(from.next, most, (offset) => fits({ end: offset, next: offset }));
  const opening = openingOf(from);
  const shift = from.next - opening.length;
  const view = opening + text.slice(from.next, reach + aheadCharacters);
  const shape = from.next < limits.markdownCharacters ? shapeOf(view) : plainShape;
  const fences = shape.fences.filter(({ fence }) => shareOf(`${fence}\n\n${closingOf(fence)}`, limit) <= fenceShare);
  /** A cut at places of the view. */
  const cutAt = (end: number, next: number): Cut => {
    const code = fences.find((each) => each.code.start <= next && next <= each.code.end);
    return { end: end + shift, next: next + shift, ...(code !== undefined && { fence: code.fence }) };
  };
  const fitting = (place: Place): Cut | null => {
    const cut = cutAt(place.end, place.next);
    return fits(cut) ? cut : null;
  };
  const least = opening.length;
  const inReach = placesIn(view, shape).filter(({ end }) => end > least && end <= reach - shift);
  const cut = best(inReach.reverse(), least + (reach - from.next) * leastShare, fitting);
  if (cut !== null) return cut;
  const hardCut = createHardCut(view, fences);
  for (let offset = reach - shift; ; offset -= 1) {
    const hard = hardCut(least, offset);
    if (offset === least + 1 || fits(cutAt(hard, hard))) return cutAt(hard, hard);
  }
};

/** The parts of a text that is cut at `cuts`. */
export const partsOf = (text: string, cuts: readonly Cut[]): string[] =>
  [...cuts, endOf(text)].map((cut, index) => partBetween(text, cuts[index - 1] ?? { next: 0 }, cut));

/** White space at the end of a text is no part of it. */
const endOf = (text: string): Cut => ({ end: text.trimEnd().length, next: text.length });

const openingOf = ({ fence }: From): string => (fence === undefined ? '' : `${fence}\n`);

/** The text of one part, with its code fence opened again and closed. */
const partBetween = (text: string, from: From, to: Cut): string => {
  const closing = to.fence === undefined ? '' : `\n${closingOf(to.fence)}`;
  return `${openingOf(from)}${text.slice(from.next, to.end)}${closing}`;
};

/** Of places from the last to the first: the last one of the best kind that does not leave too short a part; else the last of any kind. */
const best = (places: readonly Place[], enough: number, fitting: (place: Place) => Cut | null): Cut | null => {
  for (const least of [enough, 0]) {
    for (const rank of ranks) {
      for (const place of places) {
        const cut = place.rank === rank && place.end >= least ? fitting(place) : null;
        if (cut !== null) return cut;
      }
    }
  }
  return null;
};

/** The greatest offset that fits, where a smaller one fits if a greater one does; at least `from + 1`. */
const furthest = (from: number, to: number, fits: (offset: number) => boolean): number => {
  let step = 64;
  while (from + step < to && fits(from + step)) step *= 2;
  let [low, high] = [from + (step === 64 ? 1 : step / 2), Math.min(from + step, to)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
};

/**
 * The last offset up to `most` between characters as people see them, and not within the lines of a fence; within one character that is
 * longer than a part, between code points.
 */
const createHardCut = (text: string, fences: readonly FencedCode[]) => {
  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text);
  const outsideOfMarks = (offset: number): number => {
    const fenced = fences.find(({ start, end }) => start < offset && offset < end);
    if (fenced === undefined) return offset;
    if (offset < fenced.code.start) return fenced.start;
    return Math.min(offset, fenced.code.end);
  };
  return (from: number, most: number): number => {
    const outside = outsideOfMarks(most);
    const offset = outside > from ? outside : most;
    const boundary = graphemes.containing(offset)?.index ?? offset;
    if (boundary > from) return boundary;
    const isSplit = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(offset - 1, offset + 1));
    return isSplit && offset - 1 > from ? offset - 1 : offset;
  };
};
