import { limits } from '../../kit/limits.ts';

/** A letter of a script that puts no spaces between its words, with its marks. */
const letter = String.raw`(?=[\p{L}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]\p{M}*`;
const letters = new RegExp(letter, 'gu');
const words = new RegExp(String.raw`(?:${letter})+|(?:(?!${letter})[\p{L}\p{N}\p{M}])+`, 'gu');

/** A text as it is indexed: where nobody knows where a word begins, each letter is one. */
export const indexed = (text: string): string => text.replaceAll(letters, ' $& ');

/** The words of a query, as terms of a full-text search that mean nothing but themselves; the last one may go on. Bounded. */
export const termsOf = (query: string): string[] => {
  const found = query.slice(0, limits.memoryQueryCharacters).match(words) ?? [];
  const terms = found
    .flatMap(pairsOf)
    .slice(0, limits.memoryQueryWords)
    .map((word) => `"${word}"`);
  const last = terms.pop();
  return last === undefined ? [] : [...new Set(terms), `${last}*`];
};

/** A word; of letters that stand together each two neighbours. */
const pairsOf = (word: string): readonly string[] => {
  const [first, ...others] = word.match(letters) ?? [];
  if (first === undefined) return [word];
  return others.length === 0 ? [first] : others.map((next, at) => `${others[at - 1] ?? first} ${next}`);
};
