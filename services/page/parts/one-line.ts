/** Text from outside on one line of at most `width` characters. */
export const oneLine = (text: string, width: number): string => {
  const characters = [...text.replace(/\s+/gu, ' ').trim()];
  return characters.length <= width ? characters.join('') : `${characters.slice(0, width - 1).join('')}…`;
};

/** A text that another program wrote, with a capital letter, where it stands as a sentence of its own. */
export const asSentence = (text: string): string => text.replace(/^\p{Ll}(?!\S*[._/])/u, (first) => first.toUpperCase());

/** The marks around words: strong ones before those within them. */
const pairs: readonly RegExp[] = [
  /(?<mark>\*\*|__|~~)(?=\S)(?<words>.+?)(?<=\S)\k<mark>/g,
  /(?<![\w*])\*(?=[^\s*])(?<words>[^*\n]+?)(?<=\S)\*(?![\w*])/g,
  /(?<!\w)_(?=[^\s_])(?<words>[^_\n]+?)(?<=\S)_(?!\w)/g,
];
/** A mark whose other half was cut off with the end, or with the beginning, of the text. */
const [opening, closing] = [/(?<=^|\s)(\*\*|__|~~|`)(?=\S)/g, /(?<=\S)(\*\*|__|~~|`)(?=\W|$)/g];

/** Markdown without its marks, for a line that shows a part of a text, which may be on one line. What is in backticks stays as it is. */
export const plainText = (text: string): string =>
  text
    .replace(/^[^\S\n]*(`{3,}|~{3,})([^`\n]*\n|\s*$)/gm, '')
    .replace(/`{3,}[\w+#.-]*\s?/g, '')
    .split(/(`[^`\n]+`)/)
    .map((part, at) => {
      if (at % 2 === 1) return part.slice(1, -1);
      const plain = part
        .replace(/^\s*(#{1,6}|>)\s+/gm, '')
        .replace(/(?<=\s)#{2,6}\s+/g, '')
        .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, '$1');
      const words = pairs.reduce((rest, pair) => rest.replace(pair, '$<words>'), plain);
      const begun = text.endsWith('…') ? words.replace(opening, '') : words;
      return text.startsWith('…') ? begun.replace(closing, '') : begun;
    })
    .join('');

/** What somebody wrote as Markdown, without its marks, on one line of at most `width` characters. */
export const plainLine = (text: string, width: number): string => oneLine(plainText(text), width);
