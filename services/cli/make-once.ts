import { linkSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Makes a file that only this user can read, and never replaces one, not even one that another process makes at the same time. Its text is on
 * the disk before it gets its name: a power cut leaves the whole file or none (F13).
 */
export const makeOnce = (path: string, text: string): void => {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
};
