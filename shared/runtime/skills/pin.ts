import { relative, resolve } from 'node:path';
import type { Skill } from '../../domain/skills/skill.ts';
import { NatterError } from '../../kit/errors.ts';
import { type Entries, entriesOf } from './environment.ts';
import { isWithin, listFolder, readListed, realOf } from './folder.ts';

/** Pinned skills: any use requires exactly the files that the owner reviewed (A15/173). */

/** True if the configuration sets a digest for the skill. */
export const isPinned = (skill: Pick<Skill, 'name' | 'manifest'>, entries: Entries): boolean =>
  entriesOf(skill, entries).some(([, { digest }]) => digest !== undefined);

/** All files of a skill except links. Throws `invalid` unless they are as they were when it was loaded. */
export const unchangedFiles = ({ name, folder, digest: before }: Skill): ReadonlyMap<string, Buffer> => {
  const { digest, files } = readListed(folder, listFolder(folder));
  if (digest === before) return files;
  throw new NatterError('invalid', `the skill "${name}" in ${folder} has changed since it was loaded`);
};

/** All files of a skill. Throws `invalid` if it is pinned and has changed. */
export const filesOf = (skill: Skill, entries: Entries): ReadonlyMap<string, Buffer> =>
  isPinned(skill, entries) ? unchangedFiles(skill) : readListed(skill.folder, listFolder(skill.folder)).files;

/** If `path`, relative to `root`, is a file of a pinned skill: its verified bytes; else `null`. Throws `invalid`. */
export const pinnedFile = (root: string, path: string, skills: readonly Skill[], entries: Entries): Buffer | null => {
  const place = resolve(root, path);
  const real = realOf(place) ?? place;
  const isOf = ({ folder, location }: Skill): boolean => isWithin(folder, real) || isWithin(resolve(root, location, '..'), place);
  const skill = skills.find((candidate) => isOf(candidate) && isPinned(candidate, entries));
  if (skill === undefined) return null;
  const bytes = unchangedFiles(skill).get(relative(skill.folder, real));
  if (bytes) return bytes;
  throw new NatterError('invalid', `it is not a file of the skill "${skill.name}"`);
};
