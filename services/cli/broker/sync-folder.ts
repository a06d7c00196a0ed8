import { open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes a folder through to the disk: in each folder first its files, then the folders in it, then itself, and at last the two folders above
 * it, whose entries lead there. nats-server writes the descriptions of some streams without a sync (F13). What disappears meanwhile is
 * skipped: a broker may be at work in there.
 */
export const syncFolder = async (folder: string, sync: (path: string) => Promise<void> = syncPath): Promise<void> => {
  await syncTree(folder, sync);
  const above = dirname(folder);
  for (const parent of [above, dirname(above)]) await sync(parent);
};

const syncTree = async (folder: string, sync: (path: string) => Promise<void>): Promise<void> => {
  const entries = (await orGone(readdir(folder, { withFileTypes: true }))) ?? [];
  for (const entry of entries) if (entry.isFile()) await sync(join(folder, entry.name));
  for (const entry of entries) if (entry.isDirectory()) await syncTree(join(folder, entry.name), sync);
  await sync(folder);
};

/** Writes one file or folder through to the disk. */
const syncPath = async (path: string): Promise<void> => {
  const handle = await orGone(open(path, 'r'));
  try {
    await handle?.sync();
  } catch (error) {
    // Windows syncs no folders; nats-server does without there, too.
    if (process.platform !== 'win32') throw error;
  } finally {
    await handle?.close();
  }
};

/** Gone, or, of a folder above, not ours to read. */
const skipped = ['ENOENT', 'ENOTDIR', 'EACCES'];

const orGone = async <T>(asked: Promise<T>): Promise<T | null> => {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Error && 'code' in error && skipped.includes(String(error.code))) return null;
    throw error;
  }
};
