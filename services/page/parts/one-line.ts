/** Text from outside on one line of at most `width` characters. */
export const oneLine = (text: string, width: number): string => {
  const characters = [...text.replace(/\s+/gu, ' ').trim()];
  return characters.length <= width ? characters.join('') : `${characters.slice(0, width - 1).join('')}…`;
};

/** A text that another program wrote, with a capital letter, where it stands as a sentence of its own. */
export const asSentence = (text: string): string => text.replace(/^\p{Ll}(?!\S*[._/])/u, (first) => first.toUpperCase());

/** Markdown without its marks, for a line that shows the beginning of a text. What is in backticks stays as it is. */
export const plainText = (text: string): string =>
  text
    .split(/(`[^`\n]+`)/)
    .map((part, at) =>
      at % 2 === 1
        ? part.slice(1, -1)
        : part
            .replace(/^\s*(`{3,}|~{3,}).*$/gm, '')
            .replace(/^\s*(#{1,6}|>)\s+/gm, '')
            .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, '$1')
            .replace(/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, '$2'),
    )
    .join('');
