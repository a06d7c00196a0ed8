import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../../services/cli/broker/run.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';

/** What the power is cut from: a file with a file system of its own, mounted. */
export interface Disk {
  readonly folder: string;
  /** From now on nothing more is written, not even the journal: what was not synced before is lost. */
  cut(): Promise<void>;
  /** Mounts it again, which replays the journal. All processes that used it must be gone. */
  recover(): Promise<void>;
  remove(): Promise<void>;
}

const fileSystems = { ext4: ['mkfs.ext4', '-q'], xfs: ['mkfs.xfs', '-q'] } as const;
export type FileSystem = keyof typeof fileSystems;
export const isFileSystem = (name: string): name is FileSystem => name in fileSystems;

const diskBytes = 1024 ** 3;
const patienceMs = 60_000;

/** Runs a program of the system to its end. */
const system = (program: string, ...given: readonly string[]): Promise<string> =>
  run(program, given, { folder: tmpdir(), timeoutMs: patienceMs });

/** Why the power cannot be cut here; `null`: it can. */
export const whyNotHere = async (fileSystem: FileSystem): Promise<string | null> => {
  if (process.platform !== 'linux') return 'only Linux can shut down a mounted file system';
  if (process.getuid?.() !== 0) return 'mounting needs root';
  try {
    await system('xfs_io', '-V');
    await (await createDisk(fileSystem)).remove();
    return null;
  } catch (error) {
    return `${errorMessage(error)} (it needs the Debian packages e2fsprogs, mount and xfsprogs)`;
  }
};

export const createDisk = async (fileSystem: FileSystem): Promise<Disk> => {
  const home = await mkdtemp(join(tmpdir(), 'natter-power-cut-'));
  const [image, folder] = [join(home, 'image'), join(home, 'mounted')];
  await writeFile(image, '');
  await truncate(image, diskBytes);
  await mkdir(folder);
  const [format, ...quietly] = fileSystems[fileSystem];
  await system(format, ...quietly, image);
  const mount = () => system('mount', '-t', fileSystem, '-o', 'loop', image, folder);
  await mount();
  return {
    folder,
    cut: async () => void (await system('xfs_io', ...(fileSystem === 'xfs' ? [] : ['-F']), '-x', '-c', 'shutdown', folder)),
    recover: async () => {
      await unmount(folder);
      await mount();
    },
    remove: async () => {
      await unmount(folder);
      await rm(home, { recursive: true });
    },
  };
};

/** A killed process may hold its files for another moment. */
const unmount = async (folder: string): Promise<void> => {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return void (await system('umount', folder));
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await delay(100);
    }
  }
};
