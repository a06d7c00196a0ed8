import { join, resolve } from 'node:path';
import pc from 'picocolors';
import { errorMessage, NatterError } from '../../../../shared/kit/errors.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import { type CommonOptions, configOf } from '../../access.ts';
import { isConfirmed } from '../../confirm.ts';
import { type FetchedSkill, installSkill, lockFolder } from '../../skills-install/from-registry.ts';
import { readLock } from '../../skills-install/lock.ts';
import { type Registry, registryAt } from '../../skills-install/registry.ts';
import { compareSkills, publishSkill, type SyncRow } from '../../skills-install/sync.ts';
import { oneLine, table, type World } from '../../terminal.ts';
import { ownFolders } from './known.ts';

export interface RegistryCommandOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly force?: boolean;
  /** Folder of the skills. */
  readonly dir?: string;
  readonly managed?: boolean;
}

export interface SyncOptions extends RegistryCommandOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

/** Throws `NatterError('invalid')` if no registry is configured: there is no default. */
const registryOf = ({ env, interrupted }: World, { skills: { registry, registryToken } }: Config): Registry => {
  if (registry === undefined)
    throw new NatterError('invalid', 'no registry is configured; set skills.registry to its address', {
      field: 'skills.registry',
    });
  const token = registryToken && env[registryToken.env];
  if (registryToken && token === undefined)
    throw new NatterError('invalid', `skills.registryToken: the variable ${registryToken.env} is not set`, {
      field: 'skills.registryToken',
    });
  return registryAt({ address: registry, signal: interrupted, ...(token !== undefined && { token }) });
};

/** Where skills of a registry go: the workspace, else the current folder (A15/164); or the folder shared by all agents. */
const folderOf = (config: Config, { dir, managed }: RegistryCommandOptions): string => {
  if (dir !== undefined) return resolve(dir);
  if (managed) return config.skills.managedDir ?? join(config.dataDir, 'skills');
  return config.agent.workspace === undefined ? resolve('skills') : join(config.agent.workspace, 'skills');
};

export const searchRegistry = async (world: World, common: CommonOptions, query: string, limit: number) =>
  registryOf(world, configOf(world, common)).search(query, limit);

/** Installs `slug` or `slug@version`. Resolves with false if the user declined. */
export const installFromRegistry = async (world: World, name: string, options: RegistryCommandOptions): Promise<boolean> => {
  const [slug = '', version = null] = name.split('@');
  const config = configOf(world, options);
  return install(world, registryOf(world, config), slug, version, folderOf(config, options), options);
};

const install = async (
  world: World,
  registry: Registry,
  slug: string,
  version: string | null,
  folder: string,
  { yes, force }: RegistryCommandOptions,
): Promise<boolean> => {
  const { terminal, now } = world;
  const agree = async (fetched: FetchedSkill): Promise<boolean> => {
    terminal.settled();
    for (const line of fetchedLines(fetched)) terminal.out(line);
    return yes === true || (await isConfirmed(world, 'Install it?', 'install'));
  };
  const isDone = await installSkill(slug, version, {
    registry,
    folder,
    force: force === true,
    now,
    progress: terminal.progress,
    agree,
  });
  if (isDone)
    terminal.out(
      `${pc.green('installed')}  ${slug}; sessions use it from their next turn, if it is eligible; see natter skills check`,
    );
  else terminal.note(`${slug}: nothing was installed`);
  return isDone;
};

const fetchedLines = ({
  slug,
  version,
  owner,
  digest,
  files,
  bytes,
  manifest,
  target,
  before,
  warnings,
}: FetchedSkill): string[] => {
  const { requires, primaryEnv } = manifest;
  const variables = [...new Set([...requires.env, ...(primaryEnv === undefined ? [] : [primaryEnv])])];
  const rows: (readonly [string, string])[] = [
    ['by', owner ?? 'unknown'],
    ['now', before ? `version ${before.version}` : ''],
    ['digest', digest],
    ['files', `${files}, ${bytes} bytes`],
    ['needs', [...requires.bins, ...requires.anyBins, ...variables].join(', ')],
    ['to', target],
  ];
  return [
    `${pc.bold(`${slug} ${version}`)}  ${oneLine(manifest.name, 64)}: ${oneLine(manifest.description, 300)}`,
    ...rows.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(7)} ${oneLine(value, 400)}`),
    ...warnings.map((warning) => pc.yellow(`  ${oneLine(warning, 400)}`)),
    pc.dim(`  third-party text that the agent will follow; to pin this version, set its digest in skills.entries`),
  ];
};

/** Updates one skill, or all installed ones, to the latest version. Resolves with the number that failed. */
export const updateFromRegistry = async (
  world: World,
  slug: string | undefined,
  options: RegistryCommandOptions,
): Promise<number> => {
  const { terminal } = world;
  const config = configOf(world, options);
  const folder = folderOf(config, options);
  const { skills } = readLock(lockFolder(folder));
  if (slug !== undefined && !Object.hasOwn(skills, slug))
    throw new NatterError('not_found', `${oneLine(slug, 64)} was not installed from a registry to ${folder}`);
  const registry = registryOf(world, config);
  let failed = 0;
  for (const each of slug === undefined ? Object.keys(skills).sort() : [slug]) {
    try {
      const { latestVersion } = await registry.skill(each);
      const latest = latestVersion?.version ?? null;
      if (latest === skills[each]?.version && !options.force) terminal.out(`${each} ${latest} is up to date`);
      else await install(world, registry, each, latest, folder, options);
    } catch (error) {
      if (slug !== undefined) throw error;
      failed++;
      terminal.note(`${pc.red(each)}: ${errorMessage(error)}`);
    }
  }
  return failed;
};

/** Compares the skills of a folder with the registry, and publishes new and changed ones (A15/164). */
export const syncWithRegistry = async (world: World, options: SyncOptions): Promise<void> => {
  const { terminal } = world;
  const config = configOf(world, options);
  const registry = registryOf(world, config);
  const rows = await compareSkills(registry, folderOf(config, options), ownFolders(config));
  for (const line of syncLines(rows)) terminal.out(line);
  const ours = rows.filter(({ next }) => next !== null);
  if (ours.length === 0) return terminal.note('nothing to publish');
  if (options.dryRun) return;
  if (config.skills.registryToken === undefined)
    throw new NatterError('invalid', 'publishing needs a token of the registry; set skills.registryToken', {
      field: 'skills.registryToken',
    });
  terminal.note(pc.yellow(`skills will be public at ${registry.address}, under its terms`));
  if (!options.all && !(await isConfirmed(world, `Publish ${ours.length} skills?`, 'publish', '--all')))
    return terminal.note('nothing was published');
  for (const row of ours) {
    await publishSkill(registry, row);
    terminal.out(`${pc.green('published')}  ${row.slug} ${row.next}`);
  }
};

const syncLines = (rows: readonly SyncRow[]): string[] =>
  rows.length === 0
    ? []
    : table(
        ['SKILL', 'STATE', 'THERE', 'NEXT', 'FILES'],
        rows.map(({ slug, state, version, next, files, problem }) => [
          ...[oneLine(slug, 64), state, version ?? '-', next ?? '-'],
          problem ?? (files.length > 0 ? oneLine(files.map(({ path }) => path).join(', '), 60) : ''),
        ]),
      );
