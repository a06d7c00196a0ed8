import type { Dirent } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, readlink, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { NatterError } from '../../../shared/kit/errors.ts';
import { quoted } from '../../../shared/kit/one-line.ts';

/** What a path stands for: the real path, relative to the root, and how many names the file has. */
export interface FilePlace {
  readonly path: string;
  readonly links: number;
}
/** Throws if what a path stands for may not be used. */
export type Judge = (place: FilePlace) => Promise<void>;
const anything: Judge = async () => {};

/**
 * A folder that its users cannot leave (I12): every path is checked by its real location. A folder inside it is held open during
 * an operation, and names are resolved relative to that handle, so that swapping the folder for a link changes nothing. This
 * needs `/proc`; on a system without it, a swap between check and use goes unnoticed.
 */
export class Workspace {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Opens a regular file for reading; what was opened is judged. The caller closes it. */
  async openFile(path: string, judge = anything): Promise<FileHandle> {
    const real = await this.#find(path);
    if (real === (await this.#realRoot())) throw isFolder(path);
    return inFolder(dirname(real), path, async (at) => {
      // Opening a pipe without a writer must not block.
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const file = await open(at(basename(real)), flags);
      try {
        const stat = await file.stat();
        if (!stat.isFile()) throw stat.isDirectory() ? isFolder(path) : noFile(path);
        await judge({ path: await this.#nameOf(real), links: stat.nlink });
        return file;
      } catch (error) {
        await file.close();
        throw error;
      }
    });
  }

  /** Replaces a file atomically: a reader sees the old content or the new. `id` names the write, which may be repeated. */
  async writeFile(path: string, content: Uint8Array, id: string, judge = anything): Promise<void> {
    const existing = await this.#find(path).catch(absent);
    if (existing !== null && existing === (await this.#realRoot())) throw isFolder(path);
    const segments = segmentsOf(path);
    // Before a folder is made.
    await judge({ path: await this.#nameOf(existing ?? (await this.#placeOfNew(segments, path))), links: 1 });
    const folder = existing === null ? await this.#makeFolder(segments.slice(0, -1), path) : dirname(existing);
    const name = existing === null ? (segments.at(-1) ?? '') : basename(existing);
    await inFolder(folder, path, async (at) => {
      const before = await lstat(at(name)).catch(absent);
      if (before?.isDirectory()) throw isFolder(path);
      if (before !== null && !before.isFile() && !before.isSymbolicLink()) throw noFile(path);
      await judge({ path: await this.#nameOf(join(folder, name)), links: before?.nlink ?? 1 });
      // The folder's permissions would still allow replacing a read-only file.
      if (before?.isFile() && (before.mode & 0o222) === 0) throw refused(path, 'it may only be read');
      const temporary = at(`.natter-${id}.tmp`);
      await unlink(temporary).catch(absent);
      const file = await open(temporary, 'wx', before?.isFile() ? before.mode & 0o777 : 0o666);
      try {
        await file.writeFile(content);
        await file.sync();
        await rename(temporary, at(name));
      } catch (error) {
        await unlink(temporary).catch(absent);
        throw error;
      } finally {
        await file.close();
      }
    });
  }

  /** Calls `visit` for each entry of a folder, in any order, until it returns `false`. `size` gives a file's size in bytes. */
  async list(
    path: string,
    visit: (entry: Dirent, size: () => Promise<number | null>) => Promise<boolean>,
    judge = anything,
  ): Promise<void> {
    const real = await this.#find(path);
    await inFolder(real, path, async (at) => {
      await judge({ path: await this.#nameOf(real), links: 1 });
      const sizeOf = (name: string) => async () => (await lstat(at(name)).catch(() => null))?.size ?? null;
      for await (const entry of await opendir(at('.'))) if (!(await visit(entry, sizeOf(entry.name)))) return;
    });
  }

  /** Where a name leads, relative to the root, whether or not something is there. */
  async leadsTo(name: string): Promise<string> {
    return this.#nameOf(await placeOf(join(await this.#realRoot(), name)));
  }

  async #nameOf(real: string): Promise<string> {
    return relative(await this.#realRoot(), real) || '.';
  }

  /** A link in the place of the file itself is not followed, but replaced. */
  async #placeOfNew(segments: readonly string[], path: string): Promise<string> {
    const root = await this.#realRoot();
    const folder = await placeOf(join(root, ...segments.slice(0, -1)));
    return join(within(root, folder, path), segments.at(-1) ?? '');
  }

  /** The real path of the root. Throws if it does not exist. */
  async #realRoot(): Promise<string> {
    return realpath(this.#root).catch(() => {
      throw new NatterError('not_found', 'the workspace is not there; its owner must mend "agent.workspace"');
    });
  }

  /** The real location of the path, which is within the root. */
  async #find(path: string): Promise<string> {
    const root = await this.#realRoot();
    return within(root, await realpath(join(root, ...segmentsOf(path))).catch(failing(path)), path);
  }

  /** Creates folders one by one, so that none is created behind a link that leads out. Returns the real path of the last one. */
  async #makeFolder(segments: readonly string[], path: string): Promise<string> {
    const root = await this.#realRoot();
    let real = root;
    for (const segment of segments) {
      await inFolder(real, path, (at) => mkdir(at(segment)).catch(unless('EEXIST')));
      real = within(root, await realpath(join(real, segment)).catch(failing(path)), path);
    }
    return real;
  }
}

/** The real place of a path of which the end, or what its links lead to, may not exist. */
const placeOf = async (path: string, links = 8): Promise<string> => {
  const real = await realpath(path).catch(() => null);
  if (real !== null || path === dirname(path)) return real ?? path;
  const folder = await placeOf(dirname(path), links);
  const target = links === 0 ? null : await readlink(path).catch(() => null);
  return target === null ? join(folder, basename(path)) : placeOf(resolve(folder, target), links - 1);
};

/** Holds the folder `real` open while `use` runs; `at` gives the path of a name in it. */
const inFolder = async <T>(real: string, path: string, use: (at: (name: string) => string) => Promise<T>): Promise<T> => {
  const folder = await open(real, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(failing(path));
  try {
    const held = `/proc/self/fd/${folder.fd}`;
    const place = await readlink(held).catch(() => null);
    if (place !== null && place !== real) throw refused(path, 'its folder was moved meanwhile; try again');
    return await use((name) => `${place === null ? real : held}/${name}`);
  } catch (error) {
    return failing(path)(error);
  } finally {
    await folder.close();
  }
};

/** Accepts only one spelling of each path, so that another spelling cannot get around a rule. */
const segmentsOf = (path: string): string[] => {
  if (path.includes('\0') || !path.isWellFormed() || isAbsolute(path))
    throw refused(path, 'use a path relative to the workspace, such as "notes/today.md"');
  const segments = path === '.' ? [] : path.split('/');
  if (segments.includes('..')) throw refused(path, 'do not use ".."; paths begin at the workspace');
  const plain = segments.filter((segment) => segment !== '' && segment !== '.');
  if (plain.length < segments.length) throw refused(path, `write it as ${quoted(plain.join('/') || '.')}`);
  return segments;
};

const within = (root: string, real: string, path: string): string => {
  if (real === root || real.startsWith(root === '/' ? '/' : `${root}/`)) return real;
  throw refused(path, 'it leads out of the workspace');
};

const refused = (path: string, why: string) => new NatterError('invalid', `path: ${quoted(path)}: ${why}`, { field: 'path' });
const isFolder = (path: string) => refused(path, 'it is a folder');
const noFile = (path: string) => refused(path, 'it is not a regular file');

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);
/** Explains a system error without revealing paths of the machine. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of it is not a folder',
  EISDIR: 'it is a folder',
  ELOOP: 'it was swapped for a link meanwhile, or its links go in circles',
  EACCES: 'the operating system does not allow it',
  EPERM: 'the operating system does not allow it',
  EROFS: 'the disk can only be read',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
};
const failing =
  (path: string) =>
  (error: unknown): never => {
    if (error instanceof NatterError) throw error;
    const code = codeOf(error);
    throw new NatterError(code === 'ENOENT' ? 'not_found' : 'invalid', `path: ${quoted(path)}: ${reasons[code] ?? code}`, {
      field: 'path',
      cause: error,
    });
  };
const unless =
  (expected: string) =>
  (error: unknown): null => {
    if (codeOf(error) === expected) return null;
    throw error;
  };
/** Maps "not found" to `null`. */
const absent = (error: unknown): null => {
  if (codeOf(error) === 'not_found') return null;
  return unless('ENOENT')(error);
};
