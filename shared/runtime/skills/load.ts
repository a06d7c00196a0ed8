import { type Dirent, existsSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { manifestOf, unseen } from '../../domain/skills/manifest.ts';
import type { Candidate, Skill } from '../../domain/skills/skill.ts';
import { errorMessage, NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { Entries } from './environment.ts';
import { type FolderListing, isWithin, listFolder, readListed, readSkillFile, skillTextIn } from './folder.ts';
import { frontMatterOf } from './front-matter.ts';
import type { SkillRoot } from './locations.ts';
import { isPinned, unchangedFiles } from './pin.ts';

export interface LoadOptions {
  /** Highest precedence first; see `skillRoots`. */
  readonly roots: readonly SkillRoot[];
  /** Folders that a skill must not contain: the workspace, the data directory. */
  readonly keepOut?: readonly string[];
  /** The result of an earlier load: unchanged folders are not read again. */
  readonly known?: readonly Candidate[];
  /** The only folders that may have changed since then. Default: any. */
  readonly changed?: ReadonlySet<string>;
}

/** Milliseconds of reading before yielding to other work. */
const atOnceMs = 50;

/**
 * Reads the skills of all roots, in the order of precedence and folder names. An unusable folder is included with its problem,
 * and a shadowed skill with the skill that takes precedence (A15/142–146, 163). Runs nothing of a skill, and never rejects
 * because of one.
 */
export const loadSkills = async ({ roots, keepOut = [], known = [], changed }: LoadOptions): Promise<Candidate[]> => {
  const before = new Map(known.map((candidate) => [candidate.folder, candidate]));
  const reserved = keepOut.filter(existsSync).map((path) => realpathSync.native(path));
  const found: Candidate[] = [];
  let began = performance.now();
  for (const root of roots) {
    const { folders, problem } = foldersIn(root);
    const realRoot = folders.length === 0 ? root.path : realpathSync.native(root.path);
    for (const { folder, isLink } of folders) {
      const old = before.get(folder);
      const isOld = old?.source === root.source && old.plugin === root.plugin && !isLink && changed?.has(folder) === false;
      if (!isOld && performance.now() - began > atOnceMs) {
        await setImmediate();
        began = performance.now();
      }
      found.push(isOld ? old : candidateIn(root, folder, { realRoot, reserved, old }));
    }
    if (problem !== undefined) found.push({ ...named(root), folder: root.path, skill: null, stamp: '', problem });
  }
  return shadowed(found);
};

const named = ({ source, plugin }: SkillRoot) => ({ source, ...(plugin !== undefined && { plugin }) });

const entriesOf = (path: string): Dirent[] => {
  try {
    return readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
  } catch {
    return [];
  }
};

/** A root may itself be a skill, as a plugin's may. */
const foldersIn = ({ path, problem }: SkillRoot): { folders: readonly FoundFolder[]; problem?: string | undefined } => {
  if (problem !== undefined) return { folders: [], problem };
  if (existsSync(join(path, 'SKILL.md'))) return { folders: [{ folder: path, isLink: false }] };
  const entries = entriesOf(path).sort((one, other) => (one.name < other.name ? -1 : 1));
  const most = limits.skillFolders;
  return {
    folders: entries.slice(0, most).map((entry) => ({ folder: join(path, entry.name), isLink: entry.isSymbolicLink() })),
    ...(entries.length > most && { problem: `has more than ${most} folders; the others are skipped` }),
  };
};
interface FoundFolder {
  readonly folder: string;
  /** A link changes with its target. */
  readonly isLink: boolean;
}

interface Surroundings {
  /** The real path of the root. */
  readonly realRoot: string;
  readonly reserved: readonly string[];
  readonly old: Candidate | undefined;
}
/** Examines a folder. An unchanged one is not read again. */
const candidateIn = (root: SkillRoot, folder: string, { realRoot, reserved, old }: Surroundings): Candidate => {
  let stamp = '';
  try {
    const real = realpathSync.native(folder);
    if (unseen.test(folder)) throw new NatterError('invalid', 'its name has invisible characters; rename it');
    if (!isWithin(realRoot, real)) throw new NatterError('invalid', 'is a link that points elsewhere; copy the skill');
    if (reserved.some((path) => isWithin(real, path)))
      throw new NatterError('invalid', 'contains files of the agent; use a folder of its own');
    const listing = listFolder(real);
    stamp = `${real}\n${listing.stamp}`;
    if (old?.stamp === stamp && old.source === root.source && old.plugin === root.plugin) return old;
    return { ...named(root), folder, stamp, skill: skillIn(root, folder, real, listing) };
  } catch (error) {
    return { ...named(root), folder, stamp, skill: null, problem: errorMessage(error) };
  }
};

const skillIn = (root: SkillRoot, folder: string, real: string, listing: FolderListing): Skill => {
  const { digest, files } = readListed(real, listing);
  const manifest = manifestOf(frontMatterOf(skillTextIn(files)).fields);
  const place = root.inWorkspace === undefined ? real : `${root.inWorkspace}${folder.slice(root.path.length)}`;
  return { ...named(root), name: manifest.name, folder: real, location: `${place}/SKILL.md`, digest, manifest };
};

/** The first skill of each name takes precedence (A15/144). */
const shadowed = (found: readonly Candidate[]): Candidate[] => {
  const first = new Map<string, Skill>();
  return found.map((candidate) => {
    const { skill, shadowedBy } = candidate;
    const winner = (skill && first.get(skill.name)) ?? undefined;
    if (skill && !winner) first.set(skill.name, skill);
    if (winner === shadowedBy) return candidate;
    const { shadowedBy: _, ...alone } = candidate;
    return winner ? { ...alone, shadowedBy: winner } : alone;
  });
};

/** The effective skills, one for each name, ordered by name. */
export const countingSkills = (candidates: readonly Candidate[]): Skill[] =>
  candidates
    .flatMap(({ skill, shadowedBy }) => (skill && !shadowedBy ? [skill] : []))
    .sort((one, other) => (one.name < other.name ? -1 : 1));

/** The current text of a skill. Throws `invalid` when it is no longer a valid skill, or is pinned and has changed. */
export const readSkillText = (skill: Skill, entries: Entries = {}): string => {
  const { folder } = skill;
  try {
    const text = isPinned(skill, entries) ? skillTextIn(unchangedFiles(skill)) : readSkillFile(folder, listFolder(folder));
    return frontMatterOf(text).body;
  } catch (cause) {
    throw new NatterError('invalid', `the skill in ${folder} cannot be read: ${errorMessage(cause)}`, { cause });
  }
};
