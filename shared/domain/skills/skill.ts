import type { SkillManifest } from './manifest.ts';

/** Where a skill comes from, highest precedence first (A15/143–145, 163; B31). */
export const skillSources = ['workspace', 'agents', 'managed', 'bundled', 'plugin', 'extra'] as const;
export type SkillSource = (typeof skillSources)[number];

/** A skill that was read. Nothing of it has been run. */
export interface Skill {
  readonly name: string;
  readonly source: SkillSource;
  /** The plugin that it comes with. */
  readonly plugin?: string;
  /** Where it really is. */
  readonly folder: string;
  /** Where the agent's tools find its `SKILL.md`: relative to the workspace, or absolute outside of it. */
  readonly location: string;
  /** SHA-256 (hex) of its files, names and contents (A15/166). */
  readonly digest: string;
  readonly manifest: SkillManifest;
}

/** A folder that may be a skill's: what it is, or why it is none. */
export interface Candidate {
  readonly source: SkillSource;
  readonly plugin?: string;
  readonly folder: string;
  readonly skill: Skill | null;
  /** Why there is no skill here, for people. */
  readonly problem?: string;
  /** A skill of the same name that counts instead (A15/144). */
  readonly shadowedBy?: Skill;
  /** Changes with the folder. */
  readonly stamp: string;
}
