import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';

/** Reads a skill's folder without trusting it: bounded, regular files only, and no way out (A15/173). */

/** The files of a folder; `stamp` changes when they do. */
export interface FolderListing {
  readonly files: readonly ListedFile[];
  readonly stamp: string;
}
interface ListedFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly inode: number;
  /** The target of a link within the folder. */
  readonly link?: string;
}

const refused = (path: string, problem: string): NatterError => new NatterError('invalid', `${path}: ${problem}`);

/** All files below a folder, ordered by path, without reading them. Throws `invalid` for anything a skill must not contain. */
export const listFolder = (folder: string): FolderListing => {
  const files: ListedFile[] = [];
  const stamps: string[] = [];
  let room: number = limits.skillBytes;
  const visit = (prefix: string, depth: number): void => {
    if (depth > limits.skillDepth) throw refused(prefix, `is nested more than ${limits.skillDepth} folders deep`);
    for (const name of readdirSync(join(folder, prefix)).sort()) {
      const path = prefix === '' ? name : `${prefix}/${name}`;
      const stat = lstatSync(join(folder, path));
      stamps.push(`${path} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`);
      if (stamps.length > limits.skillFiles) throw refused('the folder', `has more than ${limits.skillFiles} files`);
      if (stat.isDirectory()) {
        visit(path, depth + 1);
        continue;
      }
      const file = listedFile(folder, path, stat);
      room -= file.bytes;
      if (room < 0) throw refused(path, `is too large: a skill may have ${limits.skillBytes} bytes`);
      files.push(file);
    }
  };
  visit('', 0);
  return { files, stamp: stamps.join('\n') };
};

const listedFile = (folder: string, path: string, stat: Stats): ListedFile => {
  if (stat.isFile()) return { path, bytes: stat.size, inode: stat.ino };
  if (!stat.isSymbolicLink()) throw refused(path, 'is not a regular file');
  const real = realOf(join(folder, path));
  if (real === null || !isWithin(folder, real)) throw refused(path, 'is a link that points out of the folder');
  return { path, bytes: 0, inode: stat.ino, link: readlinkSync(join(folder, path)) };
};

/** The real path according to the operating system: Node's own implementation resolves `link/..` to the folder of the link. */
export const realOf = (path: string): string | null => {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
};

/** True if the path is the folder or inside it; both must be real paths. */
export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/** The text of `SKILL.md`, without reading other files. Throws `invalid`. */
export const readSkillFile = (folder: string, { files }: FolderListing): string => {
  const file = files.find(({ path, link }) => path === 'SKILL.md' && link === undefined);
  return skillTextIn(new Map(file && [[file.path, readWhole(folder, fitting(file))]]));
};

const fitting = (file: ListedFile): ListedFile => {
  if (file.path !== 'SKILL.md' || file.bytes <= limits.skillFileBytes) return file;
  throw refused(file.path, `is larger than ${limits.skillFileBytes} bytes; move parts of it into files of their own`);
};

/** The contents of all listed files except links, and the digest of exactly these. Throws `invalid`. */
export const readListed = (folder: string, listing: FolderListing): { digest: string; files: ReadonlyMap<string, Buffer> } => {
  const hash = createHash('sha256');
  const files = new Map<string, Buffer>();
  for (const file of listing.files) fitting(file);
  for (const file of listing.files) {
    const { path, bytes, link } = file;
    hash.update(`${path}\0${link === undefined ? bytes : `link ${link}`}\0`);
    if (link !== undefined) continue;
    const content = readWhole(folder, file);
    hash.update(content);
    files.set(path, content);
  }
  return { digest: hash.digest('hex'), files };
};

/** The text of `SKILL.md`. Throws `invalid` when it is missing or not text. */
export const skillTextIn = (files: ReadonlyMap<string, Buffer>): string => {
  const bytes = files.get('SKILL.md');
  if (bytes === undefined) throw refused('SKILL.md', 'is missing');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused('SKILL.md', 'is not UTF-8 text');
  }
};

/**
 * Reads exactly the listed file. Neither a pipe in its place nor a link, its own or of a folder above, may block or redirect us.
 */
const readWhole = (folder: string, { path, bytes, inode }: ListedFile): Buffer => {
  const handle = openSync(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(handle);
    const buffer = Buffer.alloc(bytes);
    let read = 0;
    for (let got = -1; read < bytes && got !== 0; read += got) got = readSync(handle, buffer, read, bytes - read, read);
    if (!stat.isFile() || stat.ino !== inode || stat.size !== bytes || read !== bytes)
      throw refused(path, 'changed while it was being read');
    return buffer;
  } finally {
    closeSync(handle);
  }
};
