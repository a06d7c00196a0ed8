import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A folder to prepare something in that is then put in its place at once. Whatever happens, nothing of it stays behind. */
export interface Staging {
  readonly folder: string;
  /** Puts a folder of it in place of `target`, or of what is there; if that fails, what was there is back. */
  place(content: string, target: string): void;
}

/** `parent`: on the same file system as the targets, and no folder that skills are looked for in. */
export const withStaging = async <T>(parent: string, work: (staging: Staging) => Promise<T>): Promise<T> => {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'new-'));
  const place = (content: string, target: string): void => {
    const old = join(folder, 'old');
    mkdirSync(dirname(target), { recursive: true });
    const isThere = existsSync(target);
    if (isThere) renameSync(target, old);
    try {
      renameSync(content, target);
    } catch (error) {
      if (isThere) renameSync(old, target);
      throw error;
    }
  };
  try {
    return await work({ folder, place });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
