import type { ConfigInForce } from '../../../shared/client/main.ts';

/** What the page says of a value of the configuration: what it is, where it comes from, and when another one would count. */

type Key = ConfigInForce['keys'][number];

/** A value as people read it; a list or a group of values as in the file. */
export const configValue = (value: unknown): string => {
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (Array.isArray(value) && value.length === 0) return 'none';
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
};

/** Where a value comes from. */
export const originWords = ({ origin }: Pick<Key, 'origin'>): string => {
  if (origin === 'default') return 'the default: you set nothing';
  return origin.startsWith('line ') ? `${origin} of the file` : `the variable ${origin} of the environment`;
};

/** When a change counts. */
export const changeWords = ({ takesEffect }: Pick<Key, 'takesEffect'>): string =>
  takesEffect === 'at_once' ? 'counts at once, when the file is saved' : 'counts at the next start of Natter';
