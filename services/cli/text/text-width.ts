/** How much room text takes on a terminal. Our own colours in it take none. */

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Characters as people see them. */
export const graphemesOf = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** First and last code points of the blocks whose characters take two columns (East Asian Width `W` and `F`, and emoji). */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
];

const graphemeWidth = (grapheme: string): number => {
  if (grapheme.length === 1 && grapheme >= ' ' && grapheme <= '~') return 1;
  if (/^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u.test(grapheme)) return 0;
  const first = grapheme.codePointAt(0) ?? 0;
  const isWide = wide.some(([least, most]) => least <= first && first <= most) || /\p{Emoji_Presentation}|\ufe0f/u.test(grapheme);
  return isWide ? 2 : 1;
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the character that starts a colour.
const piece = /(\u001b\[\d+m)|(\s)|([^\s\u001b]+)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const colours = /\u001b\[\d+m/g;

/** Columns that a text without line feeds takes. */
export const widthOf = (text: string): number =>
  graphemesOf(text.replaceAll(colours, '')).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);

/** Cuts text without colours into rows of at most `width` columns, wherever a row is full. An empty text is one empty row. */
export const cutToWidth = (text: string, width: number): string[] => {
  const rows = [''];
  let used = 0;
  for (const grapheme of graphemesOf(text)) {
    const own = graphemeWidth(grapheme);
    if (used + own > width) {
      rows.push('');
      used = 0;
    }
    rows[rows.length - 1] += grapheme;
    used += own;
  }
  return rows;
};

/**
 * Breaks text, which may have colours, between words into lines of at most `width` columns. Its own line feeds stay. A longer word is cut, unless it
 * `staysWhole`: an address that somebody copies.
 */
export const wrapToWidth = (text: string, width: number, { staysWhole = false } = {}): string[] =>
  text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '    '), width, staysWhole));

const wrapLine = (line: string, width: number, staysWhole: boolean): string[] => {
  const lines = [''];
  let used = 0;
  const add = (part: string, own: number): void => {
    lines[lines.length - 1] += part;
    used += own;
  };
  const next = (): void => {
    lines[lines.length - 1] = (lines.at(-1) ?? '').trimEnd();
    lines.push('');
    used = 0;
  };
  for (const [, colour, space, word = ''] of line.matchAll(piece)) {
    if (colour !== undefined) add(colour, 0);
    else if (space !== undefined) {
      if (used < width) add(space, 1);
    } else {
      const own = widthOf(word);
      if (used > 0 && used + own > width) next();
      const [first = '', ...others] = own > width && !staysWhole ? cutToWidth(word, width) : [word];
      add(first, widthOf(first));
      for (const other of others) {
        next();
        add(other, widthOf(other));
      }
    }
  }
  return lines.map((each, index) => (index === lines.length - 1 ? each.trimEnd() : each));
};
