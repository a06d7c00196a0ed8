import { fieldWords } from '../../../shared/kit/text/field-words.ts';

const longest = 400;
const deepest = 3;

const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Ids, digests and times in milliseconds, and what is as it is at the beginning: they are in the whole state. */
const says = ([name, value]: readonly [string, unknown]): boolean =>
  !/^id$|Id$|^hash$|^digest$|At$/.test(name) && value !== 0 && value !== false && value !== '' && !isEmpty(value);
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

const [longestId, shownOfId] = [12, 8];
/** The beginning of an id, by the path of its field; `null`: it is none, or short. */
export const shortId = (path: string, value: unknown): string | null =>
  /(^|\.)(id|\w+Id)$/.test(path) && typeof value === 'string' && value.length > longestId
    ? `${value.slice(0, shownOfId)}…`
    : null;

/** The session that a value is of, such as a run in another one, and what else the value says. */
export const sessionIn = (value: unknown): { readonly key: string; readonly rest: string | null } | null => {
  if (typeof value !== 'object' || value === null || !('key' in value)) return null;
  const { key, ...others } = value;
  if (typeof key !== 'string' || !key.startsWith('agent:')) return null;
  const telling = Object.entries(others).filter(says);
  return { key, rest: telling.length === 0 ? null : valueWords(Object.fromEntries(telling)) };
};
