import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manifestOf, type SkillManifest } from '../../../shared/domain/skills/manifest.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import { listFolder, readListed, skillTextIn } from '../../../shared/runtime/skills/folder.ts';
import { frontMatterOf } from '../../../shared/runtime/skills/front-matter.ts';
import { unpack } from './archive.ts';
import { addedFile, fingerprintOf } from './bundle.ts';
import { clawhubIn, type LockEntry, readLock, versionPattern, writeLock } from './lock.ts';
import type { Registry } from './registry.ts';
import { withStaging } from './staging.ts';

/** A skill that was fetched from a registry and checked, but not installed yet. None of its code has run (A15/173). */
export interface FetchedSkill {
  readonly slug: string;
  readonly version: string;
  readonly owner: string | null;
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  readonly manifest: SkillManifest;
  readonly target: string;
  /** The installed version, if it came from a registry. */
  readonly before: LockEntry | null;
  /** Warnings to show before the approval. */
  readonly warnings: readonly string[];
}

export interface InstallOptions {
  readonly registry: Registry;
  /** The folder that contains the skills. */
  readonly folder: string;
  /** Overwrites local changes and other skills, and ignores the registry's warnings. */
  readonly force: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  progress(text: string): void;
  /** Asks if the skill may be installed. */
  agree(fetched: FetchedSkill): Promise<boolean>;
}

/** The folder that contains `.clawhub`, where the lock file is. */
export const lockFolder = (skills: string): string => dirname(skills);

/** A folder's digest as sessions compute it (A15/166). `null` if it does not exist. */
const digestOf = (folder: string): string | null => (existsSync(folder) ? readListed(folder, listFolder(folder)).digest : null);

/** The lock entry of that name. */
const entryIn = (folder: string, slug: string): LockEntry | null => {
  const { skills } = readLock(lockFolder(folder));
  return (Object.hasOwn(skills, slug) && skills[slug]) || null;
};

/**
 * Fetches a version of a skill, checks it, and installs it if the user agrees. Resolves with `false` if not. Throws
 * `NatterError`; nothing has changed then.
 */
export const installSkill = async (slug: string, wanted: string | null, options: InstallOptions): Promise<boolean> => {
  const { registry, folder, force, now, agree } = options;
  const target = join(folder, slug);
  const before = entryIn(folder, slug);
  const judged = force ? null : await refuseLoss(slug, target, before, registry);
  const { version, owner, warnings } = await choose(slug, wanted, options);
  return withStaging(clawhubIn(lockFolder(folder)), async ({ folder: staging, place }) => {
    const content = join(staging, 'content');
    const checked = await fetchInto(content, slug, version, options);
    const { digest } = checked;
    if (before?.version === version && before.digest !== undefined && before.digest !== digest && !force)
      throw new NatterError(
        'invalid',
        `${slug} ${version} is not what it was: the registry sends other files than before; look at them, then use --force`,
      );
    if (!(await agree({ slug, version, owner, target, before, warnings, ...checked }))) return false;
    // Loads the SQLite library only for an actual installation.
    const { alone } = await import('./alone.ts');
    alone(lockFolder(folder), () => {
      if (!force && digestOf(target) !== judged) throw new NatterError('invalid', `${target} was changed meanwhile; try again`);
      place(content, target);
      writeLock(lockFolder(folder), slug, { version, installedAt: now(), digest, registry: registry.address }, staging);
    });
    return true;
  });
};

/**
 * Throws `invalid` if the installation would overwrite something that exists nowhere else. Otherwise resolves with the digest of
 * what it will overwrite.
 */
const refuseLoss = async (slug: string, target: string, before: LockEntry | null, registry: Registry): Promise<string | null> => {
  const digest = digestOf(target);
  const refuse = (why: string) => new NatterError('invalid', `${target} ${why}, then use --force to overwrite it`);
  if (before?.registry !== undefined && before.registry !== registry.address)
    throw refuse(`was installed from ${quoted(before.registry)}; make sure that it is the same skill`);
  if (digest === null) return null;
  if (before === null) throw refuse('is there already, and was not installed from a registry; keep a copy');
  const isOurs =
    before.digest === undefined
      ? (await registry.resolve(slug, fingerprintOf(target))).match === before.version
      : before.digest === digest;
  if (!isOurs) throw refuse('was changed since it was installed; keep a copy');
  return digest;
};

/** The version to install, and the registry's owner and warnings for the skill. */
const choose = async (slug: string, wanted: string | null, { registry, force }: InstallOptions) => {
  if (wanted !== null && !versionPattern.test(wanted))
    throw new NatterError('invalid', `${quoted(wanted)} is no version; use one such as 1.2.3`);
  const { skill, latestVersion, owner, moderation } = await registry.skill(slug);
  if (skill.slug !== slug) throw new NatterError('invalid', `${slug} is called ${skill.slug} now; install that`);
  if (moderation?.isMalwareBlocked) throw new NatterError('forbidden', `the registry has blocked ${slug} as malware`);
  const warnings = moderation?.isSuspicious
    ? [`the registry finds it suspicious${moderation.summary ? `: ${moderation.summary}` : ''}`]
    : [];
  if (warnings.length > 0 && !force)
    throw new NatterError('forbidden', `${slug}: ${warnings.join('; ')}; use --force to install it all the same`);
  const version = wanted ?? latestVersion?.version;
  if (version === undefined) throw new NatterError('not_found', `the registry has no version of ${slug} to install`);
  return { version, owner: owner?.handle ?? null, warnings };
};

/**
 * Fetches a version and unpacks it into a new folder. Makes sure that it is a skill and matches the registry's list of its files,
 * if there is one.
 */
const fetchInto = async (content: string, slug: string, version: string, { registry, progress }: InstallOptions) => {
  const listed = await registry.files(slug, version);
  const archive = `${content}.zip`;
  await registry.download(slug, version, archive, (bytes) => progress(`${slug} ${version}: ${bytes} bytes`));
  if (readFileSync(archive).subarray(0, 2).toString() !== 'PK')
    throw new NatterError('unsupported', `the registry sends no archive of ${slug}; it may only say where its source is`);
  mkdirSync(content);
  await unpack(archive, 'zip', content, { files: limits.skillFiles, bytes: limits.skillBytes });
  const listing = listFolder(content);
  if (listed !== null) compare(content, listing.files, listed);
  const { digest, files } = readListed(content, listing);
  const manifest = manifestOf(frontMatterOf(skillTextIn(files)).fields);
  return { digest, manifest, files: listing.files.length, bytes: listing.files.reduce((sum, file) => sum + file.bytes, 0) };
};

const compare = (folder: string, files: readonly { readonly path: string }[], listed: ReadonlyMap<string, string>): void => {
  const names = new Set(files.map(({ path }) => path));
  const missing = [...listed.keys()].find((path) => !names.has(path));
  const wrong = files.find(({ path }) => {
    const expected = listed.get(path);
    const sha256 = createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
    return expected === undefined ? path !== addedFile : expected !== sha256;
  });
  const bad = missing ?? wrong?.path;
  if (bad !== undefined) throw new NatterError('invalid', `the archive is not what the registry lists: ${quoted(bad)} differs`);
};
