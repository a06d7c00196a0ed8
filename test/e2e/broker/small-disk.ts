import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own, which can be made as full as wanted without writing to it. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves so many bytes free: by default none. */
  leaveFree(bytes?: number): void;
  /** Gives it back its whole size. */
  makeRoom(): void;
  remove(): void;
}

/** Mounts a tmpfs, or says that it cannot: only root can. */
export const mountDisk = (bytes: number): SmallDisk | null => {
  const path = mkdtempSync(join(tmpdir(), 'natter-disk-'));
  const mount = (options: string): boolean => spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]).status === 0;
  /** Who writes meanwhile may need more room than was asked for a moment ago: then the mount is refused, and asked again. */
  const resize = (sizeNow: () => number): void => {
    for (let attempt = 0; attempt < 50; attempt++) if (mount(`remount,size=${sizeNow()}`)) return;
    throw new Error(`the disk ${path} cannot get the size ${sizeNow()}`);
  };
  if (!mount(`size=${bytes}`)) {
    rmSync(path, { recursive: true });
    console.warn('NOT TESTED: a full disk. This user cannot mount a tmpfs; run the test as root.');
    return null;
  }
  const used = (): number => {
    const { blocks, bavail, bsize } = statfsSync(path);
    return (blocks - bavail) * bsize;
  };
  return {
    path,
    leaveFree: (free = 0) => resize(() => used() + free),
    makeRoom: () => resize(() => bytes),
    remove: () => {
      spawnSync('umount', [path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
};
