import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Flips one bit in the last place where a text is in the blocks of a stream: what a bad disk does. The broker must not run. Throws if the text is
 * nowhere.
 */
export const flipBit =
  (stream: string, text: string) =>
  async (folder: string): Promise<void> => {
    const files = (await readdir(folder, { recursive: true })).filter(
      (path) => path.includes(`/${stream}/`) && path.endsWith('.blk'),
    );
    for (const file of files.map((path) => join(folder, path))) {
      const bytes = await readFile(file);
      const at = bytes.lastIndexOf(text);
      if (at === -1) continue;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return writeFile(file, bytes);
    }
    throw new Error(`no block of ${stream} has "${text}"`);
  };
