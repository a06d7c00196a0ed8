import type { Skill } from '../../domain/skills/skill.ts';
import { gate, type SkillFacts, type Verdict } from './gate.ts';

/** A cached verdict and what it depends on. */
interface Judged {
  readonly verdict: Verdict;
  readonly facts: SkillFacts;
  /** The programs that were looked up, and whether they were found. */
  readonly programs: ReadonlyMap<string, boolean>;
}

/**
 * A `gate` with a cache (A15/165): a skill is judged again only when it was read again, when a program it looked up has appeared
 * or disappeared, or when another fact has changed. Facts are compared by identity.
 */
export const rememberingGate = (): typeof gate => {
  const known = new WeakMap<Skill, Judged>();
  return (skill, facts) => {
    const before = known.get(skill);
    if (before && holds(before, facts)) return before.verdict;
    const programs = new Map<string, boolean>();
    const hasProgram = (name: string): boolean => {
      const isThere = facts.hasProgram(name);
      programs.set(name, isThere);
      return isThere;
    };
    const verdict = gate(skill, { ...facts, hasProgram });
    known.set(skill, { verdict, facts, programs });
    return verdict;
  };
};

const holds = ({ facts: before, programs }: Judged, facts: SkillFacts): boolean => {
  if (before.config !== facts.config || before.env !== facts.env || before.programEnv !== facts.programEnv) return false;
  if (before.os !== facts.os || before.nodes !== facts.nodes || before.sandboxed !== facts.sandboxed) return false;
  for (const [name, isThere] of programs) if (facts.hasProgram(name) !== isThere) return false;
  return true;
};
