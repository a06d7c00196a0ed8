import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { messageOf, NatterError } from '../../kit/errors.ts';

/** A skill of a registry: the last part of its address, and of its folder. */
export const slugPattern = /^[a-z0-9][a-z0-9-]{0,63}$/;
export const versionPattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,64})?(?:\+[0-9A-Za-z.-]{1,64})?$/;

const entry = z.looseObject({
  version: z.string().regex(versionPattern).nullable(),
  /** Milliseconds since 1970. */
  installedAt: z.number(),
  /** Digest of the folder as it was installed (A15/166); ClawHub's own client writes none. */
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  registry: z.string().optional(),
});
const lock = z.looseObject({ version: z.literal(1), skills: z.record(z.string().regex(slugPattern), entry) });
export type LockEntry = z.infer<typeof entry>;
export type SkillLock = z.infer<typeof lock>;

const fileIn = (folder: string): string => join(folder, '.clawhub', 'lock.json');

/** What was installed from registries: `.clawhub/lock.json` beside the folder of the skills, as ClawHub's client has it. Throws `invalid`. */
export const readLock = (folder: string): SkillLock => {
  const file = fileIn(folder);
  try {
    return lock.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { version: 1, skills: {} };
    throw new NatterError('invalid', `${file} cannot be read: ${messageOf(cause)}; mend or remove it`, { cause });
  }
};

/** Writes one entry, whole or not at all. */
export const writeLock = (folder: string, slug: string, installed: LockEntry): void => {
  const file = fileIn(folder);
  const { skills, ...rest } = readLock(folder);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify({ ...rest, skills: { ...skills, [slug]: installed } }, null, 2)}\n`);
  renameSync(`${file}.new`, file);
};
