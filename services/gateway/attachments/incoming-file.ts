import { createHash } from 'node:crypto';
import { emptyFile } from '../../../shared/domain/values/attachment.ts';
import { kindOfFile } from '../../../shared/domain/values/media-type.ts';

/** A file in a request. */
export interface IncomingFile {
  /** Its media type, without parameters. */
  readonly type: string;
  readonly name?: string;
  readonly content: Buffer;
  /** SHA-256 of the content, in hexadecimal. */
  readonly digest: string;
}

/** A file, or what is wrong with it. */
export type ReadFile = IncomingFile | { readonly problem: string };

/** The answer to an address instead of a file. */
export const notFetched: ReadFile = { problem: 'addresses are not fetched; send the file itself, as a data URL' };

/** A media type without parameters. */
export const mediaType = /^[\w.+-]{1,63}\/[\w.+-]{1,64}$/;

const nameCharacters = 256;

/** The file of a data URL, or of base64 alone, whose type must be told then. Addresses are not fetched. */
export const readFileData = (
  data: string,
  { type, name }: { readonly type?: string | undefined; readonly name?: string | undefined } = {},
): ReadFile => {
  if (/^https?:/i.test(data)) return notFetched;
  if (!data.startsWith('data:')) return fileOf(data, type, name);
  const [head = ''] = /^data:[^,]{0,512},/.exec(data) ?? [];
  if (!/;base64,$/i.test(head)) return { problem: 'use a data URL with ";base64,"' };
  const [told = ''] = head.slice('data:'.length).split(/[;,]/);
  return fileOf(data.slice(head.length), told || type, name);
};

const fileOf = (base64: string, told: string | undefined, name: string | undefined): ReadFile => {
  const text = /\s/.test(base64) ? base64.replaceAll(/\s+/g, '') : base64;
  if (text === '') return { problem: emptyFile };
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return { problem: 'is not valid base64' };
  const content = Buffer.from(text, 'base64');
  const looks = looksLike(content);
  const type = (told ?? '').trim().toLowerCase() || looks || 'application/octet-stream';
  if (!mediaType.test(type)) return { problem: 'its media type is not one such as "image/png"' };
  const kind = kindOfFile(type);
  // A model's provider refuses a whole request for one such file.
  if (kind !== null && kindOfFile(looks ?? '') !== kind) return { problem: `is not what its type says, ${type}` };
  return {
    type: kind === null ? type : (looks ?? type),
    ...(name && { name: oneLineName(name) }),
    content,
    digest: createHash('sha256').update(content).digest('hex'),
  };
};

/** The last part of a path, without what a terminal or a header would take for more than a name. */
const oneLineName = (name: string): string =>
  name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/^.*[/\\]/, '')
    .slice(0, nameCharacters)
    .toWellFormed() || 'file';

/** The type that the first bytes say, of those that models are given. */
const looksLike = (content: Buffer): string | null => {
  const head = content.toString('hex', 0, 12);
  return signatures.find(([pattern]) => pattern.test(head))?.[1] ?? null;
};
const signatures: readonly (readonly [RegExp, string])[] = [
  [/^89504e470d0a1a0a/, 'image/png'],
  [/^ffd8ff/, 'image/jpeg'],
  // GIF8
  [/^47494638/, 'image/gif'],
  // RIFF, four bytes, WEBP or WAVE
  [/^52494646.{8}57454250/, 'image/webp'],
  [/^52494646.{8}57415645/, 'audio/wav'],
  // ID3, or the first frame
  [/^(?:494433|ff[ef])/, 'audio/mpeg'],
  // %PDF-
  [/^255044462d/, 'application/pdf'],
];
