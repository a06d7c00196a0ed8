import type { ConfigInForce } from '../../../shared/client/main.ts';

/** What the page says of a value of the configuration: what it is, where it comes from, and when another one would count. */

type Key = ConfigInForce['keys'][number];

/** A value as people read it, with its unit; a list or a group of values as in the file. */
export const configValue = ({ path, value }: Pick<Key, 'path' | 'value'>): string => {
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (Array.isArray(value) && value.length === 0) return 'none';
  if (typeof value === 'number' && path.endsWith('Ms')) return durationText(value);
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
};

const durationText = (ms: number): string => {
  if (ms < 1_000) return `${ms} ms`;
  const isMinutes = ms % 60_000 === 0;
  return `${ms} ms (${isMinutes ? `${ms / 60_000} min` : `${ms / 1_000} s`})`;
};

/** Where a value comes from. */
export const originWords = ({ origin }: Pick<Key, 'origin'>): string => {
  if (origin === 'default') return 'the default: you set nothing';
  return origin.startsWith('line ') ? `${origin} of the file` : `the variable ${origin} of the environment`;
};

/** When a change counts. */
export const changeWords = ({ takesEffect }: Pick<Key, 'takesEffect'>): string =>
  takesEffect === 'at_once' ? 'takes effect as soon as the file is saved' : 'takes effect after a restart';
