import { limits } from '../../../kit/limits.ts';

/** A letter, with its marks, of a script without spaces between words. */
const letter = String.raw`(?=[\p{L}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]\p{M}*`;
const letters = new RegExp(letter, 'gu');
const words = new RegExp(String.raw`(?:${letter})+|(?:(?!${letter})[\p{L}\p{N}\p{M}])+`, 'gu');

/** The text as it is indexed: in scripts without word boundaries each letter is a word. */
export const indexed = (text: string): string => text.replaceAll(letters, ' $& ');

/** The words of a query as quoted terms of a full-text search, without operators. The last one matches as a prefix. Bounded. */
export const termsOf = (query: string): string[] => {
  const found = query.slice(0, limits.memoryQueryCharacters).match(words) ?? [];
  const terms = found
    .flatMap(pairsOf)
    .slice(0, limits.memoryQueryWords)
    .map((word) => `"${word}"`);
  const last = terms.pop();
  return last === undefined ? [] : [...new Set(terms), `${last}*`];
};

/** A word; for scripts without spaces, each pair of neighbouring letters. */
const pairsOf = (word: string): readonly string[] => {
  const [first, ...others] = word.match(letters) ?? [];
  if (first === undefined) return [word];
  return others.length === 0 ? [first] : others.map((next, at) => `${others[at - 1] ?? first} ${next}`);
};
