import type { PartLimit } from '../../../shared/ports/outlet.ts';

const lengths = {
  utf16: (text: string) => text.length,
  bytes: (text: string) => Buffer.byteLength(text),
  characters: (text: string) => text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0),
};

const linesOf = (text: string): number => text.split('\n').length;

/** How much of the limit a text takes, from 0 to 1 if it fits: by the platform's unit, as the platform sees it. */
export const shareOf = (text: string, { maximumLength, unit = 'utf16', maximumLines, rendered }: PartLimit): number => {
  const shown = rendered === undefined ? text : rendered(text);
  const byLength = maximumLength === undefined ? 0 : lengths[unit](shown) / maximumLength;
  const byLines = maximumLines === undefined ? 0 : linesOf(shown) / maximumLines;
  return Math.max(byLength, byLines);
};
