import { chmodSync, closeSync, mkdirSync, openSync, realpathSync, symlinkSync, writeSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { assert } from '../../../shared/kit/assert.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import { isWithin } from '../../../shared/runtime/skills/folder.ts';

export interface UnpackLimits {
  /** Maximum number of entries of any kind, and of bytes in all files. */
  readonly files: number;
  readonly bytes: number;
  /** Keeps symbolic links that stay within the folder. Without it, links are refused. */
  readonly links?: boolean;
  /** Number of leading folders to drop from each path. */
  readonly strip?: number;
}

/** An archive entry as its format describes it. `path` and `link` are untrusted. */
export interface ArchiveEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly isProgram: boolean;
  readonly link?: string;
}

const refused = (path: string, problem: string): NatterError =>
  new NatterError('invalid', `the archive: ${quoted(path)} ${problem}`);
/** Contents up to this size may exceed the ratio: a page of spaces is not a zip bomb. */
const freeBytes = 1024 * 1024;

/**
 * Writes an archive's contents into an empty folder of ours: bounded in number, bytes and compression ratio, and never outside
 * the folder (A15/173). All methods throw `invalid`; the caller must then delete the folder. Links are created last, so that no
 * file is written through one.
 */
export class Unpacked {
  readonly #folder: string;
  readonly #limits: UnpackLimits;
  readonly #mostBytes: number;
  readonly #links: { readonly path: string; readonly to: string }[] = [];
  #open: { readonly handle: number; readonly path: string; readonly isProgram: boolean } | null = null;
  #entries = 0;
  #written = 0;
  #read = 0;

  /** `archiveBytes` is the size of the archive itself. */
  constructor(folder: string, archiveBytes: number, bounds: UnpackLimits) {
    this.#folder = folder;
    this.#limits = bounds;
    this.#mostBytes = Math.min(bounds.bytes, Math.max(freeBytes, archiveBytes * limits.archiveRatio));
  }

  /** Creates a folder, remembers a link, or opens a file. True for a file: the caller must write its content and close it. */
  add(entry: ArchiveEntry): boolean {
    this.#entries += 1;
    if (this.#entries > this.#limits.files)
      throw refused(entry.path, `is one too many: it has more than ${this.#limits.files} files`);
    const parts = partsOf(entry.path).slice(this.#limits.strip ?? 0);
    if (entry.kind === 'other') throw refused(entry.path, 'is neither a file nor a folder');
    if (parts.length === 0) return false;
    const path = join(this.#folder, ...parts);
    mkdirSync(entry.kind === 'folder' ? path : dirname(path), { recursive: true, mode: 0o755 });
    if (entry.kind === 'link') this.#remember(entry, parts);
    if (entry.kind === 'file') this.#open = { handle: openNew(path, entry.path), path, isProgram: entry.isProgram };
    return entry.kind === 'file';
  }

  write(chunk: Uint8Array): void {
    assert(this.#open, 'a file is open');
    this.#written = this.#bounded(this.#written + chunk.length);
    for (let done = 0; done < chunk.length; ) done += writeSync(this.#open.handle, chunk, done);
  }

  /** Closes the open file, if there is one. */
  close(): void {
    if (this.#open === null) return;
    const { handle, path, isProgram } = this.#open;
    this.#open = null;
    closeSync(handle);
    if (isProgram) chmodSync(path, 0o755);
  }

  /** Counts decompressed bytes, including those that belong to no file. */
  count(bytes: number): void {
    this.#read = this.#bounded(this.#read + bytes);
  }

  /** Creates the links. Throws `invalid` for one that leads outside the folder or nowhere. */
  finish(): void {
    const root = realpathSync.native(this.#folder);
    for (const { path, to } of this.#links) symlinkSync(to, join(root, path));
    for (const { path } of this.#links) {
      if (!isWithin(root, realOf(join(root, path)))) throw refused(path, 'is a link that leads out of it');
    }
  }

  #bounded(bytes: number): number {
    if (bytes > this.#mostBytes) throw refused('its contents', `are more than ${this.#mostBytes} bytes`);
    return bytes;
  }

  #remember({ path, link = '' }: ArchiveEntry, parts: readonly string[]): void {
    if (!this.#limits.links) throw refused(path, 'is a link');
    const place = posix.join(...parts);
    const to = posix.join(posix.dirname(place), link);
    if (link === '' || /[\0\\]/.test(link) || posix.isAbsolute(link) || to.split('/').includes('..'))
      throw refused(path, 'is a link that leads out of it');
    this.#links.push({ path: place, to: link });
  }
}

const openNew = (path: string, name: string): number => {
  try {
    return openSync(path, 'wx', 0o644);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw code === 'EEXIST' ? refused(name, 'is in it twice') : cause;
  }
};

const realOf = (path: string): string => {
  try {
    return realpathSync.native(path);
  } catch {
    return '';
  }
};

/** The segments of a path that stays within the folder. */
const partsOf = (path: string): string[] => {
  if (path.length > limits.archivePathCharacters) throw refused(path, 'has too long a path');
  if (/[\0\\]|^[a-z]:/i.test(path) || posix.isAbsolute(path)) throw refused(path, 'has a path that leads out of it');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refused(path, 'has a path that leads out of it');
  if (parts.length > limits.archiveDepth) throw refused(path, `is more than ${limits.archiveDepth} folders deep`);
  return parts;
};
