import type { FencedCode, MarkdownShape, Range } from './markdown.ts';

/** Kinds of places to cut, the best first. `marked`: within a link or other marks, or beside a fence. */
export const ranks = ['paragraph', 'line', 'sentence', 'word', 'marked'] as const;

/** White space at which a text may be cut: a part ends at `end`, the next one begins at `next`. */
export interface Place {
  readonly end: number;
  readonly next: number;
  readonly rank: (typeof ranks)[number];
}

/** Every run of white space is a place to cut, but for those in the lines of fences. Ordered. */
export const placesIn = (text: string, { blocks, fences, spans }: MarkdownShape): Place[] => {
  const fencedAt = rangeAt(fences);
  const spanAt = rangeAt(spans);
  return [...text.matchAll(/\s+/g)].flatMap(({ 0: run, index }): Place[] => {
    const runEnd = index + run.length;
    const next = run.includes('\n') ? index + run.lastIndexOf('\n') + 1 : runEnd;
    const fenced = fencedAt(next);
    if (fenced !== undefined) return placeInCode(text, fenced, { run, index });
    if (spanAt(index) !== undefined) return [{ end: index, next, rank: 'marked' }];
    const isParagraph = blocks.has(next) || blocks.has(runEnd) || /\n\s*\n/.test(run);
    return [{ end: index, next, rank: isParagraph ? 'paragraph' : rankInParagraph(text, run, index) }];
  });
};

/** Nothing is cut off at the ends of a line of code but its line feed: the rest is part of the code. */
const placeInCode = (text: string, { code }: FencedCode, { run, index }: { run: string; index: number }): Place[] => {
  const newline = run.lastIndexOf('\n');
  const next = newline < 0 ? index : index + newline + 1;
  if (next < code.start || next > code.end) return [];
  if (newline < 0) return [{ end: index, next, rank: 'word' }];
  const end = text[next - 2] === '\r' ? next - 2 : next - 1;
  return [{ end, next, rank: next === code.start || next === code.end ? 'marked' : 'line' }];
};

const rankInParagraph = (text: string, run: string, index: number): Place['rank'] => {
  if (run.includes('\n')) return 'line';
  return /[.!?…。！？]["'”’)\]]?$/.test(text.slice(Math.max(0, index - 2), index)) ? 'sentence' : 'word';
};

/** The range that an offset is inside of, of ranges that are in order and apart. */
const rangeAt =
  <T extends Range>(ranges: readonly T[]) =>
  (offset: number): T | undefined => {
    let [low, high] = [0, ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ranges[middle]?.end ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    const range = ranges[low];
    return range !== undefined && range.start < offset ? range : undefined;
  };
