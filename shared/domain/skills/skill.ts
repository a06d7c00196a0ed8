import type { SkillManifest } from './manifest.ts';

/** Where a skill comes from, highest precedence first (A15/143–145, 163; B31). */
export const skillSources = ['workspace', 'agents', 'managed', 'bundled', 'plugin', 'extra'] as const;
export type SkillSource = (typeof skillSources)[number];

/** A skill that has been read. None of its code has run. */
export interface Skill {
  readonly name: string;
  readonly source: SkillSource;
  /** The plugin it comes with. */
  readonly plugin?: string;
  /** The real path of its folder. */
  readonly folder: string;
  /** The path of its `SKILL.md` for the agent's tools: relative to the workspace, or absolute outside of it. */
  readonly location: string;
  /** SHA-256 (hex) of its files, names and contents (A15/166). */
  readonly digest: string;
  readonly manifest: SkillManifest;
}

/** A folder that may contain a skill: the skill, or the reason why there is none. */
export interface Candidate {
  readonly source: SkillSource;
  readonly plugin?: string;
  readonly folder: string;
  readonly skill: Skill | null;
  /** Why there is no skill here, in words for people. */
  readonly problem?: string;
  /** The skill of the same name that takes precedence (A15/144). */
  readonly shadowedBy?: Skill;
  /** Changes when the folder changes. */
  readonly stamp: string;
}
