import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A temporary folder in which something is prepared and then moved into place in one step. It is always removed afterwards. */
export interface Staging {
  readonly folder: string;
  /** Moves a folder of it to `target`, replacing what is there. If that fails, the old content is restored. */
  place(content: string, target: string): void;
}

/** `parent` must be on the same file system as the targets, and not a folder that is searched for skills. */
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
