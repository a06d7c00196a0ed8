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
  const resize = (size: number): void => {
    if (!mount(`remount,size=${size}`)) throw new Error(`the disk ${path} cannot get the size ${size}`);
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
    leaveFree: (free = 0) => resize(used() + free),
    makeRoom: () => resize(bytes),
    remove: () => {
      spawnSync('umount', [path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
};
