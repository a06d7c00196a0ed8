import type { Config } from '../../domain/config/schema.ts';
import type { Skill } from '../../domain/skills/skill.ts';
import { environmentProblem } from '../../kit/process/environment.ts';
import { entriesOf, entryOf, type SkillEntry, skillEnvironment } from './environment.ts';

/** Decides whether a skill can be used here, and if not, why (A15/152–157, 160, 161, 167 and 172). Pure. */

/** Another machine that runs programs for the agent (A15/167). `bins`: its programs, if known. */
export interface SkillNode {
  readonly name: string;
  readonly os: string;
  /** It may run programs (`system.run`). */
  readonly runs: boolean;
  readonly bins?: readonly string[];
}

/** Everything the decision depends on. */
export interface SkillFacts {
  /** `linux`, `darwin` or `win32`. */
  readonly os: string;
  /** True if the program is on the path of the agent's programs. */
  hasProgram(name: string): boolean;
  /** Variables that the agent's programs always get: PATH, LANG, HOME, and those of `tools.exec.environment` that are set. */
  readonly programEnv: ReadonlySet<string>;
  /** The process's own environment, for keys that the configuration takes from it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: Pick<Config, 'agent' | 'skills'>;
  /** Natter has no nodes of its own yet: callers that have some provide them. */
  readonly nodes?: readonly SkillNode[];
  /** The agent's programs run in a container and must be installed there as well (A15/172). */
  readonly sandboxed?: boolean;
}

export type Verdict =
  /** `node`: where its programs run. `notes`: remarks for people. */
  | { readonly eligible: true; readonly node?: string; readonly notes: readonly string[] }
  | { readonly eligible: false; readonly reasons: readonly string[] };

/** Decides about a skill. Reasons and notes are sentences for people. `always` skips only the requirements of the skill (C18). */
export const gate = (skill: Skill, facts: SkillFacts): Verdict => {
  const entry = entryOf(skill, facts.config.skills.entries);
  const refused = refusals(skill, facts);
  const missing = skill.manifest.always ? [] : machineReasons(skill, facts);
  const node = missing.length === 0 ? undefined : facts.nodes?.find((candidate) => serves(candidate, skill));
  const ungiven = skill.manifest.always ? [] : givenReasons(skill, facts, entry);
  const reasons = [...refused, ...(node ? [] : missing), ...ungiven];
  if (reasons.length > 0) return { eligible: false, reasons };
  return { eligible: true, ...(node && { node: node.name }), notes: notesOn(skill, facts) };
};

/**
 * The owner's decisions, and unconditional requirements. The entry under the skill's name counts as well, so that a skill cannot
 * evade it with a `skillKey`.
 */
const refusals = (skill: Skill, { config }: SkillFacts): string[] => {
  const { name, source, digest, manifest } = skill;
  const { primaryEnv } = manifest;
  const reasons: string[] = [];
  if (config.agent.workspace === undefined)
    reasons.push('The agent has no workspace and cannot read skills; set agent.workspace.');
  if (source === 'bundled' && config.skills.allowBundled?.includes(name) === false)
    reasons.push('It is bundled and not in skills.allowBundled.');
  for (const [key, entry] of entriesOf(skill, config.skills.entries)) {
    if (!entry.enabled) reasons.push(`It is disabled: skills.entries.${key}.enabled is false.`);
    if (entry.digest !== undefined && entry.digest !== digest)
      reasons.push(`This version is not allowed: its digest is ${digest}, but skills.entries.${key}.digest is ${entry.digest}.`);
  }
  const problem = primaryEnv === undefined ? null : environmentProblem(primaryEnv);
  if (problem !== null) reasons.push(`It wants its key in the variable ${primaryEnv}, which ${problem.split(';')[0]}.`);
  return reasons;
};

/** Requirements that this machine does not meet. */
const machineReasons = ({ manifest: { os, requires } }: Skill, facts: SkillFacts): string[] => {
  const { bins, anyBins } = requires;
  const reasons: string[] = [];
  if (os.length > 0 && !os.includes(facts.os)) reasons.push(`It is for ${os.join(', ')}; this is ${facts.os}.`);
  for (const bin of bins) if (!facts.hasProgram(bin)) reasons.push(`The program ${bin} is not installed.`);
  if (anyBins.length > 0 && !anyBins.some((bin) => facts.hasProgram(bin)))
    reasons.push(`None of the programs ${anyBins.join(', ')} is installed.`);
  return reasons;
};

/** True if a node meets the requirements that this machine does not. */
const serves = ({ os, runs, bins }: SkillNode, { manifest }: Skill): boolean => {
  const has = (bin: string): boolean => bins === undefined || bins.includes(bin);
  const { bins: all, anyBins } = manifest.requires;
  const isRight = manifest.os.length === 0 || manifest.os.includes(os);
  return runs && isRight && all.every(has) && (anyBins.length === 0 || anyBins.some(has));
};

/** Requirements that the configuration does not meet. */
const givenReasons = (skill: Skill, facts: SkillFacts, entry: SkillEntry | undefined): string[] => {
  const { requires, primaryEnv, skillKey = skill.name } = skill.manifest;
  if (requires.env.length === 0 && requires.config.length === 0) return [];
  const given = skillEnvironment([skill], facts.config.skills.entries, facts.env);
  const unset = requires.env.filter((name) => !facts.programEnv.has(name) && !Object.hasOwn(given, name));
  const places = configPlaces(skill, facts, entry);
  return [
    ...unset.map((name) => {
      const field = name === primaryEnv ? 'apiKey' : `env.${name}`;
      return `The variable ${name} is not set; set skills.entries.${skillKey}.${field}.`;
    }),
    ...requires.config
      .filter((path) => !places.some((place) => valueAt(place, path)))
      .map((path) => `The configuration has no ${path}; set it, or skills.entries.${skillKey}.config.${path}.`),
  ];
};

/** Where the paths of `requires.config` are looked up: the whole configuration, the skill's own part, and its plugin's. */
const configPlaces = ({ plugin }: Skill, { config }: SkillFacts, entry: SkillEntry | undefined): readonly unknown[] => {
  const { plugins } = config.skills;
  const ofPlugin = plugin !== undefined && Object.hasOwn(plugins, plugin) ? plugins[plugin]?.config : undefined;
  return [config, entry?.config, ofPlugin];
};

/** The value at a dotted path; own properties only. */
const valueAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, name) => {
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
    return isThere ? (at as Record<string, unknown>)[name] : undefined;
  }, value);

const notesOn = ({ manifest: { requires } }: Skill, { sandboxed }: SkillFacts): string[] => {
  const bins = [...requires.bins, ...requires.anyBins];
  return sandboxed && bins.length > 0
    ? [`Its programs (${bins.join(', ')}) were looked for on this machine; the sandbox has to have them too.`]
    : [];
};
