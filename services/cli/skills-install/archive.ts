import { spawn } from 'node:child_process';
import { closeSync, createReadStream, openSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { type Entry, openPromise } from 'yauzl';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import { usualPath } from '../../../shared/kit/process/environment.ts';
import { type ArchiveEntry, Unpacked, type UnpackLimits } from './unpacked.ts';

const endings = { zip: /\.zip$/i, 'tar.gz': /\.(tar\.gz|tgz)$/i, 'tar.bz2': /\.(tar\.bz2|tbz2?)$/i } as const;
export type ArchiveKind = keyof typeof endings;

/**
 * The kind of archive: the stated one, or else the one that the file name suggests. `null` if it is no archive. Throws `invalid`
 * for a stated kind that cannot be unpacked.
 */
export const archiveKind = (said: string | undefined, file: string): ArchiveKind | null => {
  const kinds = Object.keys(endings) as ArchiveKind[];
  const name = said === undefined ? file : `.${said.replace(/^\./, '')}`;
  const kind = kinds.find((candidate) => endings[candidate].test(name)) ?? null;
  if (kind !== null || said === undefined) return kind;
  throw new NatterError('invalid', `install: archive: ${quoted(said)} cannot be unpacked; use ${kinds.join(', ')}`, {
    field: 'archive',
  });
};

/**
 * Unpacks a file into an empty folder. Throws `invalid` for an archive that is broken or hostile (A15/173); the caller must then
 * delete the folder.
 */
export const unpack = async (file: string, kind: ArchiveKind, folder: string, bounds: UnpackLimits): Promise<void> => {
  const unpacked = new Unpacked(folder, statSync(file).size, bounds);
  try {
    if (kind === 'zip') await unpackZip(file, unpacked);
    else await unpackTar(kind === 'tar.gz' ? gunzipped(file) : bunzipped(file), unpacked);
    unpacked.finish();
  } catch (error) {
    if (error instanceof NatterError) throw error;
    throw new NatterError('invalid', `the archive cannot be unpacked: ${errorMessage(error)}`, { cause: error });
  } finally {
    unpacked.close();
  }
};

const unpackZip = async (file: string, unpacked: Unpacked): Promise<void> => {
  const zip = await openPromise(file, { strictFileNames: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (!unpacked.add(zipEntry(entry))) continue;
      for await (const chunk of await zip.openReadStreamPromise(entry)) unpacked.write(chunk as Buffer);
      unpacked.close();
    }
  } finally {
    zip.close();
  }
};

const fileTypes = 0o170000;
const zipEntry = ({ fileName, externalFileAttributes, versionMadeBy }: Entry): ArchiveEntry => {
  // Only archives made on Unix (3) have file modes. Links are refused in all of them.
  const mode = versionMadeBy >> 8 === 3 ? externalFileAttributes >>> 16 : 0;
  const type = mode & fileTypes;
  const isFolder = fileName.endsWith('/');
  const isPlain = type === 0 || type === 0o100000 || (isFolder && type === 0o040000);
  const kind = !isPlain ? 'other' : isFolder ? 'folder' : 'file';
  return { path: fileName, kind, isProgram: (mode & 0o111) !== 0 };
};

const tarKinds: Readonly<Record<string, ArchiveEntry['kind']>> = {
  File: 'file',
  OldFile: 'file',
  ContiguousFile: 'file',
  Directory: 'folder',
  GNUDumpDir: 'folder',
  SymbolicLink: 'link',
};

const unpackTar = async (bytes: AsyncIterable<Buffer>, unpacked: Unpacked): Promise<void> => {
  let problem: unknown;
  const attempt = (act: () => void): void => {
    try {
      if (problem === undefined) act();
    } catch (error) {
      problem = error;
    }
  };
  const read = (entry: ReadEntry): void => {
    attempt(() => {
      const { path, type, mode = 0, linkpath } = entry;
      const kind = tarKinds[type] ?? 'other';
      if (!unpacked.add({ path, kind, isProgram: (mode & 0o111) !== 0, ...(linkpath && { link: linkpath }) })) return;
      entry.on('data', (chunk) => attempt(() => unpacked.write(chunk)));
      entry.on('end', () => attempt(() => unpacked.close()));
    });
    entry.resume();
  };
  const parser = new Parser({ strict: true, onReadEntry: read });
  parser.on('error', (error) => attempt(() => fail(error)));
  // Entries are written synchronously as they are parsed, so no backpressure is needed.
  for await (const chunk of bytes) {
    unpacked.count(chunk.length);
    parser.write(chunk);
    if (problem !== undefined) throw problem;
  }
  parser.end();
  if (problem !== undefined) throw problem;
};

const fail = (error: unknown): never => {
  throw error;
};

const gunzipped = (file: string): Readable => {
  const gunzip = createGunzip();
  return createReadStream(file)
    .on('error', (error) => gunzip.destroy(error))
    .pipe(gunzip);
};

/** Node cannot decompress bzip2, so the `bzip2` program does it. It only gets bytes on stdin and returns bytes on stdout. */
async function* bunzipped(file: string): AsyncGenerator<Buffer> {
  const input = openSync(file, 'r');
  const child = spawn('bzip2', ['-dc'], { stdio: [input, 'pipe', 'ignore'], env: { PATH: usualPath } });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve);
    child.on('error', (cause) =>
      reject(new NatterError('unsupported', 'bzip2 is not installed; the archive needs it', { cause })),
    );
  });
  ended.catch(() => {});
  closeSync(input);
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const code = await ended;
    // Truncated output may end between two files and look complete.
    if (code !== 0) throw new Error(`bzip2 ended with ${code}`);
  } finally {
    child.kill('SIGKILL');
  }
}
