const longest = 400;
const deepest = 3;

const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** A name of a field in words: `contextTokens` is "context tokens". */
export const fieldWords = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const wordsOf = (value: unknown, depth: number): string => {
  if (value === undefined || value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value);
  if (parts.length === 0) return 'none';
  if (depth === deepest) return '…';
  if (Array.isArray(value)) return value.map((each) => wordsOf(each, depth + 1)).join('; ');
  const inner = parts.map(([name, part]) => `${fieldWords(name)} ${wordsOf(part, depth + 1)}`).join(', ');
  return depth === 0 ? inner : `(${inner})`;
};

/** A value of a state in one short text for people: no braces and no quotes. */
export const valueWords = (value: unknown): string => shortened(wordsOf(value, 0));
