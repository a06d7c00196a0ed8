import type { Attachment } from '../../../shared/domain/values/attachment.ts';
import { typeByName } from '../../../shared/domain/values/media-type.ts';

/** Files as people read of them, and as they are saved. */

const units = ['bytes', 'kB', 'MB', 'GB'] as const;

/** `1 byte`, `68 bytes`, `3.4 kB`, `12 MB`. */
export const sizeText = (bytes: number): string => {
  if (bytes === 1) return '1 byte';
  const at = bytes === 0 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const size = bytes / 1024 ** at;
  return `${at > 0 && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[at]}`;
};

/** Type and size, as far as they are known. */
export const factsOf = ({ type, bytes }: Pick<Attachment, 'type' | 'bytes'>): string =>
  [type, bytes === undefined ? undefined : sizeText(bytes)].filter((fact) => fact !== undefined && fact !== '').join(', ');

/** The media type of a file, if the browser or the file's name tells it: else its first bytes may. */
export const typeOf = ({ type, name }: File): string | undefined => type.split(';')[0]?.trim() || typeByName(name);

const nameCharacters = 100;

/**
 * The name of a file without what a screen or a system takes for more than a name: characters that control or turn the text, and those of
 * paths. Its ending stays.
 */
export const fileName = ({ name = '' }: Pick<Attachment, 'name'>): string => {
  const plain = name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/^.*[/\\]/, '')
    .replaceAll(/[<>:"|?*]+/g, '_')
    .replace(/^[\s.]+/, '')
    .replace(/[\s.]+$/, '');
  if (plain === '') return 'file';
  const characters = [...plain];
  if (characters.length <= nameCharacters) return plain;
  const ending = /\.[\w-]{1,12}$/.exec(plain)?.[0] ?? '';
  return `${characters.slice(0, nameCharacters - ending.length).join('')}${ending}`;
};
