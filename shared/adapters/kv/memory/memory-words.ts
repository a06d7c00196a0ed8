import { limits } from '../../../kit/limits.ts';

/** A letter, with its marks, of a script without spaces between words. */
const letter = String.raw`(?=[\p{L}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]\p{M}*`;
const letters = new RegExp(letter, 'gu');
const words = new RegExp(String.raw`(?:${letter})+|(?:(?!${letter})[\p{L}\p{N}\p{M}])+`, 'gu');

/** The text as it is indexed: in scripts without word boundaries each letter is a word. */
export const indexed = (text: string): string => text.replaceAll(letters, ' $& ');

/** The words of a query as quoted terms of a full-text search, without operators. The last one matches as a prefix, and without its ending. Bounded. */
export const termsOf = (query: string): string[] => {
  const found = query.slice(0, limits.memoryQueryCharacters).match(words) ?? [];
  const terms = found
    .flatMap(pairsOf)
    .slice(0, limits.memoryQueryWords)
    .map((word) => `"${word}"`);
  const last = terms.pop();
  return last === undefined ? [] : [...new Set(terms), withoutEnding(last)];
};

/** The fewest letters that stand for a longer word, and the most that are its ending. */
const [stemLetters, endingLetters] = [4, 6];
/** A quoted term as a prefix, or any beginning of it that is long enough, as a word: "watering" finds "water" too. */
const withoutEnding = (term: string): string => {
  const characters = /^"\p{L}+"$/u.test(term) ? [...term].slice(1, -1) : [];
  const beginnings = characters.slice(0, -1).map((_, at) => characters.slice(0, at + 1).join(''));
  const stems = beginnings.slice(Math.max(stemLetters - 1, beginnings.length - endingLetters)).map((stem) => `"${stem}"`);
  return stems.length === 0 ? `${term}*` : `(${[`${term}*`, ...stems].join(' OR ')})`;
};

/** A word; for scripts without spaces, each pair of neighbouring letters. */
const pairsOf = (word: string): readonly string[] => {
  const [first, ...others] = word.match(letters) ?? [];
  if (first === undefined) return [word];
  return others.length === 0 ? [first] : others.map((next, at) => `${others[at - 1] ?? first} ${next}`);
};
