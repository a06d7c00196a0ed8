import { relative, resolve } from 'node:path';
import type { Skill } from '../../domain/skills/skill.ts';
import { NatterError } from '../../kit/errors.ts';
import { type Entries, entriesOf } from './environment.ts';
import { isWithin, listFolder, readListed, realOf } from './folder.ts';

/** Skills that have to be what the owner has read, whenever something of them is used (A15/173). */

/** True of a skill whose digest the configuration names. */
export const isPinned = (skill: Pick<Skill, 'name' | 'manifest'>, entries: Entries): boolean =>
  entriesOf(skill, entries).some(([, { digest }]) => digest !== undefined);

/** All its files, links left out. Throws `invalid` unless they are what they were when it was loaded. */
export const unchangedFiles = ({ name, folder, digest: before }: Skill): ReadonlyMap<string, Buffer> => {
  const { digest, files } = readListed(folder, listFolder(folder));
  if (digest === before) return files;
  throw new NatterError('invalid', `the skill "${name}" in ${folder} was changed since it was loaded`);
};

/** All its files; of one that is pinned as they were loaded, or it throws `invalid`. */
export const filesOf = (skill: Skill, entries: Entries): ReadonlyMap<string, Buffer> =>
  isPinned(skill, entries) ? unchangedFiles(skill) : readListed(skill.folder, listFolder(skill.folder)).files;

/** The file at `path`, from `root`, if it is one of a pinned skill: the bytes that its digest is of. Throws `invalid`. */
export const pinnedFile = (root: string, path: string, skills: readonly Skill[], entries: Entries): Buffer | null => {
  const place = resolve(root, path);
  const real = realOf(place) ?? place;
  const isOf = ({ folder, location }: Skill): boolean => isWithin(folder, real) || isWithin(resolve(root, location, '..'), place);
  const skill = skills.find((candidate) => isOf(candidate) && isPinned(candidate, entries));
  if (skill === undefined) return null;
  const bytes = unchangedFiles(skill).get(relative(skill.folder, real));
  if (bytes) return bytes;
  throw new NatterError('invalid', `it is no file of the skill "${skill.name}"`);
};
