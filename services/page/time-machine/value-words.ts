import { fieldWords } from '../../../shared/kit/text/field-words.ts';

const longest = 400;
const deepest = 3;

const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Ids, digests and times in milliseconds, and what is as it is at the beginning: they are in the whole state. */
const says = ([name, value]: readonly [string, unknown]): boolean =>
  !/^id$|Id$|^hash$|At$/.test(name) && value !== 0 && value !== false && value !== '' && !isEmpty(value);
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

const wordsOf = (value: unknown, depth: number): string => {
  if (value === undefined || value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value);
  if (parts.length === 0) return 'none';
  if (depth === deepest) return '…';
  if (Array.isArray(value)) return value.map((each) => wordsOf(each, depth + 1)).join('; ');
  const telling = parts.filter(says);
  const inner = (telling.length === 0 ? parts : telling)
    .map(([name, part]) => `${fieldWords(name)} ${wordsOf(part, depth + 1)}`)
    .join(', ');
  return depth === 0 ? inner : `(${inner})`;
};

/** A value of a state in one short text for people: no braces and no quotes. */
export const valueWords = (value: unknown): string => shortened(wordsOf(value, 0));
