import type { Config } from '../../domain/config/schema.ts';
import type { Skill } from '../../domain/skills/skill.ts';
import { environmentProblem } from '../../kit/process/environment.ts';

/** A skill's configuration and environment variables: only for the programs of a session that has the skill (A15/162). */

export type Entries = Config['skills']['entries'];
export type SkillEntry = Entries[string];
type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration entries of a skill, under its own key and under its name (A15/160). */
export const entriesOf = (
  { name, manifest: { skillKey = name } }: Pick<Skill, 'name' | 'manifest'>,
  entries: Entries,
): [key: string, entry: SkillEntry][] =>
  [...new Set([skillKey, name])].flatMap((key) => {
    const entry = Object.hasOwn(entries, key) ? entries[key] : undefined;
    return entry === undefined ? [] : [[key, entry]];
  });

/** The entry that provides its settings. */
export const entryOf = (skill: Pick<Skill, 'name' | 'manifest'>, entries: Entries): SkillEntry | undefined =>
  entriesOf(skill, entries)[0]?.[1];

/** The variables of one skill. Dangerous names are left out, whoever set them. */
const variablesOf = (skill: Skill, entries: Entries, env: Environment): [name: string, value: string][] => {
  const { env: given = {}, apiKey } = entryOf(skill, entries) ?? {};
  const key = typeof apiKey === 'object' ? env[apiKey.env] : apiKey;
  const { primaryEnv } = skill.manifest;
  const all = [...Object.entries(given), ...(primaryEnv !== undefined && key !== undefined ? [[primaryEnv, key] as const] : [])];
  return all.flatMap(([name, value]) => (value !== '' && environmentProblem(name) === null ? [[name, value]] : []));
};

/** The variables of several skills; if two set the same one, the first wins. Never includes the environment of this process. */
export const skillEnvironment = (skills: readonly Skill[], entries: Entries, env: Environment): Record<string, string> =>
  Object.fromEntries(skills.toReversed().flatMap((skill) => variablesOf(skill, entries, env)));
