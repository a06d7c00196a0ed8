/** A name of a field in words: `contextTokens` is "context tokens". */
export const fieldWords = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
