import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** What a broker leaves free on its disk: a full disk stops more than the broker, and stops it less cleanly than a limit does. */
const reserve = { share: 0.05, mostBytes: 512 * 1024 ** 2 } as const;

const freeIn = async (folder: string): Promise<{ freeBytes: number; reserveBytes: number }> => {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, reserveBytes: Math.min(reserve.share * blocks * bsize, reserve.mostBytes) };
};

/** True when a broker that had no room to store has some again: twice the reserve, so that it is not full again at once. */
export const hasRoom = async (folder: string): Promise<boolean> => {
  const { freeBytes, reserveBytes } = await freeIn(folder);
  return freeBytes >= 2 * reserveBytes;
};

/**
 * Bytes that the broker of this folder may store: what it has and what is free, without the reserve. Its own default would be three
 * quarters of what is free at its start, even if it stores more than that already: then it would refuse every write.
 */
export const storeLimitOf = async (folder: string): Promise<number> => {
  const { freeBytes, reserveBytes } = await freeIn(folder);
  return Math.floor((await bytesIn(join(folder, 'store'))) + Math.max(0, freeBytes - reserveBytes));
};

/** Files may disappear meanwhile; a folder that does not exist yet has none. */
const bytesIn = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries.filter((each) => each.isFile()))
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      ({ size }) => size,
      () => 0,
    );
  return bytes;
};
