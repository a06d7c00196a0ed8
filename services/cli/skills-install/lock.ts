import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errorMessage, NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';

/** The slug of a skill in a registry: the last part of its address, and the name of its folder. */
export const slugPattern = /^[a-z0-9][a-z0-9-]{0,63}$/;
export const versionPattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,64})?(?:\+[0-9A-Za-z.-]{1,64})?$/;

const entry = z.looseObject({
  version: z.string().regex(versionPattern).nullable(),
  /** Milliseconds since 1970. */
  installedAt: z.number(),
  /** Digest of the folder as installed (A15/166). ClawHub's own client does not write it. */
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  registry: z.string().optional(),
});
const lock = z.looseObject({ version: z.literal(1), skills: z.record(z.string().regex(slugPattern), entry) });
export type LockEntry = z.infer<typeof entry>;
export type SkillLock = z.infer<typeof lock>;

/** The folder that holds the lock file and the staging folders. */
export const clawhubIn = (folder: string): string => join(folder, '.clawhub');
const fileIn = (folder: string): string => join(clawhubIn(folder), 'lock.json');

/**
 * Reads what was installed from registries: `.clawhub/lock.json` next to the skills folder, in the format of ClawHub's client.
 * Throws `invalid`.
 */
export const readLock = (folder: string): SkillLock => {
  const file = fileIn(folder);
  try {
    return lock.parse(JSON.parse(readBounded(file)));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { version: 1, skills: {} };
    throw new NatterError('invalid', `${file} cannot be read: ${errorMessage(cause)}; mend or remove it`, { cause });
  }
};

/** The agent can write to this folder and may have put a pipe or an endless file there. */
const readBounded = (file: string): string => {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile() || stat.size > limits.registryBytes) throw new Error('it is no regular file, or too large');
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
};

/** Writes one entry atomically. `staging` is a folder of ours on the same file system. The caller must hold the lock. */
export const writeLock = (folder: string, slug: string, installed: LockEntry, staging: string): void => {
  const { skills, ...rest } = readLock(folder);
  const file = join(staging, 'lock.json');
  writeFileSync(file, `${JSON.stringify({ ...rest, skills: { ...skills, [slug]: installed } }, null, 2)}\n`);
  renameSync(file, fileIn(folder));
};
