import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Candidate } from '../../../shared/domain/skills/skill.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { loadSkills } from '../../../shared/runtime/skills/load.ts';
import { bundleOf, fingerprint } from './bundle.ts';
import { lockFolder } from './from-registry.ts';
import { readLock, slugPattern } from './lock.ts';
import type { BundleFile, Registry } from './registry.ts';

/** How a local skill compares with the registry. Skills installed from a registry are left alone. */
export interface SyncRow {
  readonly slug: string;
  readonly state: 'new' | 'changed' | 'same' | 'installed' | 'unusable';
  /** The registry's version. */
  readonly version: string | null;
  /** The version to publish. */
  readonly next: string | null;
  readonly files: readonly BundleFile[];
  readonly problem?: string;
}

/** Compares a folder's skills with the registry (A15/164). `keepOut` and what counts as a skill are as for sessions. */
export const compareSkills = async (registry: Registry, folder: string, keepOut: readonly string[]): Promise<SyncRow[]> => {
  const { skills: installed } = readLock(lockFolder(folder));
  const rows: SyncRow[] = [];
  for (const candidate of await loadSkills({ roots: [{ source: 'extra', path: folder }], keepOut })) {
    const slug = basename(candidate.folder);
    if (!existsSync(join(candidate.folder, 'SKILL.md'))) continue;
    rows.push(
      Object.hasOwn(installed, slug)
        ? rowOf(slug, 'installed', installed[slug]?.version ?? null)
        : await compare(registry, slug, candidate),
    );
  }
  return rows;
};

const rowOf = (slug: string, state: SyncRow['state'], version: string | null, more: Partial<SyncRow> = {}): SyncRow => ({
  ...{ slug, state, version, next: null, files: [] },
  ...more,
});

const compare = async (registry: Registry, slug: string, { skill, problem = '' }: Candidate): Promise<SyncRow> => {
  if (skill === null) return rowOf(slug, 'unusable', null, { problem });
  if (!slugPattern.test(slug))
    return rowOf(slug, 'unusable', null, { problem: 'name its folder with small letters, digits and "-"' });
  const files = bundleOf(skill.folder);
  try {
    const { match, latest } = await registry.resolve(slug, fingerprint(files));
    if (match !== null) return rowOf(slug, 'same', match);
    return rowOf(slug, latest === null ? 'new' : 'changed', latest, {
      files,
      next: latest === null ? firstVersion : after(latest),
    });
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
    return rowOf(slug, 'new', null, { files, next: firstVersion });
  }
};

const firstVersion = '1.0.0';
const after = (version: string): string =>
  version.replace(/^(\d+\.\d+)\.(\d+).*$/, (_, start: string, patch: string) => `${start}.${Number(patch) + 1}`);

/**
 * Publishes a skill that `compareSkills` reported as new or changed. This accepts the registry's terms on the user's behalf.
 * Throws `NatterError`.
 */
export const publishSkill = ({ publish }: Registry, { slug, next, files }: SyncRow): Promise<void> => {
  const displayName = slug.replaceAll(
    /(^|-)([a-z])/g,
    (_, dash: string, letter: string) => `${dash && ' '}${letter.toUpperCase()}`,
  );
  return publish({ slug, displayName, version: next, changelog: '', acceptLicenseTerms: true, tags: ['latest'] }, files);
};
