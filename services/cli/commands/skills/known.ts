import { basename, dirname } from 'node:path';
import type { Skill } from '../../../../shared/domain/skills/skill.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import { type Explanation, explain } from '../../../../shared/runtime/skills/explain.ts';
import { machineFacts } from '../../../../shared/runtime/skills/facts.ts';
import type { SkillFacts } from '../../../../shared/runtime/skills/gate.ts';
import { loadSkills } from '../../../../shared/runtime/skills/load.ts';
import { skillRoots } from '../../../../shared/runtime/skills/locations.ts';
import { withTools } from '../../../../shared/runtime/skills/places.ts';
import { type CommonOptions, configOf } from '../../access.ts';
import { lockFolder } from '../../skills-install/from-registry.ts';
import { readLock } from '../../skills-install/lock.ts';
import { oneLine, type World } from '../../terminal.ts';

/** The configuration, the machine's facts as a service on this machine would see them, and the status of each folder. */
export const readSkills = async (world: World, common: CommonOptions) => {
  const config = configOf(world, common);
  const facts: SkillFacts = machineFacts(config, withTools(world.env, config.dataDir))();
  const candidates = await loadSkills({ roots: skillRoots(config), keepOut: ownFolders(config) });
  return { config, facts, explained: explain(candidates, facts) };
};

/** Folders that are never part of a skill. */
export const ownFolders = ({ agent, dataDir }: Config): string[] =>
  [agent.workspace, dataDir].filter((path) => path !== undefined);

/** The status of a folder that is a skill. */
export interface KnownSkill extends Explanation {
  readonly skill: Skill;
}
export const isKnown = (one: Explanation): one is KnownSkill => one.skill !== null;

/** The skill with this name or folder name; the first by precedence. */
export const skillNamed = (explained: readonly Explanation[], name: string): KnownSkill | undefined =>
  explained.filter(isKnown).find(({ skill }) => isCalled(skill, name));
const isCalled = ({ name, folder }: Skill, asked: string): boolean => name === asked || basename(folder) === asked;

/** As `skillNamed`; throws `NatterError('not_found')`. */
export const mustHave = (explained: readonly Explanation[], name: string): KnownSkill => {
  const found = skillNamed(explained, name);
  if (found) return found;
  throw new NatterError('not_found', `there is no skill "${oneLine(name, 64)}"; see natter skills list`);
};

/** The registry version that was installed, and whether it was changed since. `null` if it was not installed from a registry. */
export const installedAs = ({ folder, digest }: Skill): { version: string | null; isChanged: boolean } | null => {
  const { skills } = readLock(lockFolder(dirname(folder)));
  const slug = basename(folder);
  const entry = Object.hasOwn(skills, slug) ? skills[slug] : undefined;
  if (entry === undefined) return null;
  return { version: entry.version, isChanged: entry.digest !== undefined && entry.digest !== digest };
};
