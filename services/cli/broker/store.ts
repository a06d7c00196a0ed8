import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { StreamSpec } from '../../../shared/wire/topology.ts';
import { takeDataLock } from './data-lock.ts';
import { syncFolder } from './sync-folder.ts';

/**
 * The files of the managed broker. nats-server describes each stream in `meta.inf`, with a checksum in `meta.sum`. When the two do not match, as
 * after a power cut, it leaves the stream out with one warning, and whoever creates the stream again gets it without its description (F13).
 */

/** A copy of both, in base64, outside the store: what `repairDescription` puts back. */
const descriptionFile = z.object({ inf: z.base64(), sum: z.base64() });
type Description = z.infer<typeof descriptionFile>;

/** The folder of the managed broker. */
export const brokerFolder = (dataDir: string): string => join(dataDir, 'broker');
const descriptionPath = (dataDir: string, stream: string): string =>
  join(brokerFolder(dataDir), 'descriptions', `${stream}.json`);

/** The folder of each stream in the store, by name. */
const streamFolders = async (dataDir: string): Promise<ReadonlyMap<string, string>> => {
  const accounts = join(brokerFolder(dataDir), 'store', 'jetstream');
  const folders = new Map<string, string>();
  // The broker is removing what begins with a dot.
  for (const account of await namesIn(accounts))
    for (const name of await namesIn(join(accounts, account, 'streams')))
      if (!name.startsWith('.')) folders.set(name, join(accounts, account, 'streams', name));
  return folders;
};

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/**
 * Prepares the creation of streams that the broker does not list although their files are there: removes the broken description of a cache, and
 * of a stream that never held a message, so that the broker writes a new one and reads what messages there are. Throws
 * `NatterError('unsupported')` for any other stream, with the folder, what the broker said about it, and the repair.
 */
export const readmitLeftOut = async (
  dataDir: string,
  missing: readonly StreamSpec[],
  warnings: readonly string[],
): Promise<void> => {
  const folders = await streamFolders(dataDir);
  const refused: string[] = [];
  for (const { name, cache } of missing) {
    const folder = folders.get(name);
    if (folder === undefined) continue;
    if (cache || !(await holdsMessages(folder))) for (const path of descriptionIn(folder)) await rm(path, { force: true });
    else refused.push(refusal(dataDir, { name, folder }, warnings));
  }
  if (refused.length === 0) return;
  const head =
    'the broker left out streams whose files are there; they are not created again, for that could lose what they hold';
  const advice = 'See "When the broker leaves a stream out" in docs/operate/broker.md';
  throw new NatterError('unsupported', [`${head}:`, ...refused, advice].join('\n'));
};

const descriptionIn = (folder: string): readonly [inf: string, sum: string] => [
  join(folder, 'meta.inf'),
  join(folder, 'meta.sum'),
];

/** Bytes of a record without a message, with which a new or emptied stream remembers its last sequence. */
const emptyRecordBytes = 30;

const holdsMessages = async (folder: string): Promise<boolean> => {
  const blocks = (await namesIn(join(folder, 'msgs'))).filter((name) => name.endsWith('.blk'));
  const sizes = await Promise.all(blocks.map(async (name) => (await stat(join(folder, 'msgs', name))).size));
  return sizes.reduce((sum, size) => sum + size, 0) > emptyRecordBytes;
};

const refusal = (dataDir: string, { name, folder }: { name: string; folder: string }, warnings: readonly string[]): string => {
  const said = warnings.findLast((line) => line.includes(`${folder}/`) || line.includes(`"${name}"`));
  const lines = [`  ${name}: ${folder}`, ...(said === undefined ? [] : [`    nats-server: ${said.trim()}`])];
  return [...lines, `    to repair it: natter nats repair-meta ${name} --data-dir ${dataDir}`].join('\n');
};

/** Keeps a copy of the description of each of these streams, then writes the whole store through to the disk. */
export const settleStore = async (
  dataDir: string,
  streams: readonly StreamSpec[],
  sync: (folder: string) => Promise<void> = syncFolder,
): Promise<void> => {
  const folders = await streamFolders(dataDir);
  for (const { name, cache } of streams) {
    const folder = folders.get(name);
    if (!cache && folder !== undefined) await keepDescription(descriptionPath(dataDir, name), folder);
  }
  await sync(brokerFolder(dataDir));
};

const keepDescription = async (path: string, folder: string): Promise<void> => {
  const [inf, sum] = await Promise.all(descriptionIn(folder).map((file) => readFile(file, 'base64')));
  const text = JSON.stringify({ inf, sum });
  if (text === (await readFile(path, 'utf8').catch(() => ''))) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
};

/**
 * Puts the kept description of a stream back into the store of a stopped broker, so that it takes the stream in again, under its old creation
 * time, when it starts. Throws `NatterError('unavailable')` while the broker runs, `not_found` if there is no such folder or no kept
 * description, and `invalid` if the description is not what is wrong.
 */
export const repairDescription = async (dataDir: string, stream: string): Promise<void> => {
  const lock = await takeDataLock(join(brokerFolder(dataDir), 'lock'));
  try {
    const folder = (await streamFolders(dataDir)).get(stream);
    if (folder === undefined) throw new NatterError('not_found', `there is no stream ${stream} in ${brokerFolder(dataDir)}`);
    const kept = await keptDescription(dataDir, stream);
    const wanted = [kept.inf, kept.sum].map((text) => Buffer.from(text, 'base64'));
    const paths = descriptionIn(folder);
    const found = await Promise.all(paths.map((path) => readFile(path).catch(() => Buffer.alloc(0))));
    if (wanted.every((bytes, index) => found[index]?.equals(bytes)))
      throw new NatterError('invalid', `the description of ${stream} is in order; if the broker leaves it out, restore a backup`);
    for (const [index, path] of paths.entries()) await writeFile(path, wanted[index] ?? '', { mode: 0o640 });
    await syncFolder(brokerFolder(dataDir));
  } finally {
    await lock.release();
  }
};

const keptDescription = async (dataDir: string, stream: string): Promise<Description> => {
  try {
    return descriptionFile.parse(JSON.parse(await readFile(descriptionPath(dataDir, stream), 'utf8')));
  } catch {
    throw new NatterError('not_found', `no description of ${stream} was kept in ${brokerFolder(dataDir)}; restore a backup`);
  }
};
