/** Text from outside on one line of at most `width` characters. */
export const oneLine = (text: string, width: number): string => {
  const characters = [...text.replace(/\s+/gu, ' ').trim()];
  return characters.length <= width ? characters.join('') : `${characters.slice(0, width - 1).join('')}…`;
};

/** The type of an event as words: `turn_started` is "turn started". */
export const typeWords = (type: string): string => type.replaceAll('_', ' ');
