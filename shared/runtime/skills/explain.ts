import type { Candidate, Skill } from '../../domain/skills/skill.ts';
import type { SkillRef } from '../../domain/values/memory-edit.ts';
import { limits } from '../../kit/limits.ts';
import { skillCommands } from './commands.ts';
import { gate, type SkillFacts } from './gate.ts';
import { charactersOf, frameCharacters, skillsSection, type ToldSkill } from './prompt.ts';

/** The status of a folder that may contain a skill. */
export interface Explanation extends ToldSkillOrNone {
  readonly candidate: Candidate;
  readonly status: 'eligible' | 'ineligible' | 'shadowed' | 'unusable';
  /** Why it is not eligible, in sentences for people; empty if it is. */
  readonly reasons: readonly string[];
  readonly notes: readonly string[];
}
interface ToldSkillOrNone {
  readonly skill: Skill | null;
  readonly node?: string;
}

/**
 * Explains all candidates, in order: which the agent has, and why not the others. Pure, except for the cache of a remembering
 * `judge`.
 */
export const explain = (candidates: readonly Candidate[], facts: SkillFacts, judge = gate): Explanation[] => {
  let room: number = limits.sessionSkills;
  let characters: number = limits.skillsPromptCharacters - frameCharacters;
  return candidates.map((candidate): Explanation => {
    const { skill, problem, shadowedBy } = candidate;
    if (skill === null) return not(candidate, 'unusable', [`${problem ?? 'It cannot be read'}.`]);
    if (shadowedBy)
      return not(candidate, 'shadowed', [`${shadowedBy.folder} has the same name and comes first (${shadowedBy.source}).`]);
    const verdict = judge(skill, facts);
    if (!verdict.eligible) return not(candidate, 'ineligible', verdict.reasons);
    const { notes, node } = verdict;
    const cost = charactersOf({ skill, node });
    if (room === 0) return not(candidate, 'ineligible', tooMany);
    if (cost > characters) return not(candidate, 'ineligible', tooLong);
    room--;
    characters -= cost;
    return { candidate, skill, status: 'eligible', reasons: [], notes, ...(node !== undefined && { node }) };
  });
};

const tooMany = [`The agent already has ${limits.sessionSkills} skills, which is the maximum.`];
const tooLong = ['The system prompt has no room for it; disable other skills.'];
const not = (candidate: Candidate, status: Explanation['status'], reasons: readonly string[]): Explanation => {
  const { skill } = candidate;
  return { candidate, skill, status, reasons, notes: [] };
};

/** The skills of an agent, as a session keeps them (A15/166). */
export interface SkillSet {
  /** Ordered by name. */
  readonly told: readonly ToldSkill[];
  readonly skills: readonly Skill[];
  readonly refs: readonly SkillRef[];
  /** The part of the system prompt; empty if there is nothing to list. */
  readonly section: string;
  /** The skills that people can call, by command (A15/148). */
  readonly commands: ReadonlyMap<string, Skill>;
}

/** The set of all eligible skills. `reserved`: Natter's own commands. */
export const eligibleSet = (explained: readonly Explanation[], reserved: ReadonlySet<string>): SkillSet => {
  const told = explained.flatMap(({ skill, node, status }) => (skill && status === 'eligible' ? [{ skill, node }] : []));
  return setOf(
    told.sort((one, other) => (one.skill.name < other.skill.name ? -1 : 1)),
    reserved,
  );
};

export const setOf = (told: readonly ToldSkill[], reserved: ReadonlySet<string>): SkillSet => {
  const skills = told.map(({ skill }) => skill);
  const refs = skills.map(({ name, digest }) => ({ name, digest }));
  return { told, skills, refs, section: skillsSection(told), commands: skillCommands(skills, reserved) };
};

export const noSkills: SkillSet = setOf([], new Set());
