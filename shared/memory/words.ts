import { limits } from '../kit/limits.ts';

/** The words of a query, as terms of a full-text search that mean nothing but themselves; the last one may go on. Bounded. */
export const termsOf = (query: string): string[] => {
  const words = query.slice(0, limits.memoryQueryCharacters).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const terms = words.slice(0, limits.memoryQueryWords).map((word) => `"${word}"`);
  const last = terms.pop();
  return last === undefined ? [] : [...new Set(terms), `${last}*`];
};
