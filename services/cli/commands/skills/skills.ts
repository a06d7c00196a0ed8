import type { Command } from 'commander';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { listCommand } from '../../list-command.ts';
import { showLines } from '../../pager.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { mustHave, readSkills, skillNamed } from './known.ts';
import { installPrograms, type ProgramOptions } from './programs.ts';
import {
  installFromRegistry,
  type RegistryCommandOptions,
  type SyncOptions,
  searchRegistry,
  syncWithRegistry,
  updateFromRegistry,
} from './registry.ts';
import { checkLines, infoLines, listLines, skillJson } from './view.ts';

interface LookOptions extends CommonOptions {
  readonly json?: boolean;
  readonly eligible?: boolean;
}

/** `natter skills …`: the skills and their status, their programs, and skill registries (A15). */
export const skillsCommand = (program: Command, world: World): void => {
  const skills = program.command('skills').addHelpText('after', example('skills list'));
  addReading(skills, world);
  addInstall(skills, world);
  addRegistry(skills, world);
};

const addReading = (skills: Command, world: World): void => {
  const { terminal } = world;
  const show = (json: boolean | undefined, value: unknown, lines: readonly string[]): Promise<void> =>
    showLines(world, json ? asJson(value, 2).split('\n') : lines);
  listCommand(skills, 'list the skills, highest precedence first')
    .option('--eligible', 'only skills that the agent can use')
    .option('--json', 'print JSON')
    .addHelpText('after', example('skills list --eligible'))
    .action(async (_: unknown, command: Command) => {
      const { json, eligible, ...common } = command.optsWithGlobals<LookOptions>();
      const { explained } = await readSkills(world, common);
      const shown = explained.filter(({ status }) => !eligible || status === 'eligible');
      if (shown.length === 0) terminal.note('no skills; put one into the folder "skills" of the workspace');
      await show(json, { skills: shown.map((one) => skillJson(one, explained)) }, shown.length === 0 ? [] : listLines(shown));
    });
  skills
    .command('check')
    .description('show for each skill whether the agent can use it, and if not, why')
    .option('--json', 'print JSON')
    .addHelpText('after', example('skills check'))
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<LookOptions>();
      const { explained } = await readSkills(world, common);
      await show(json, { skills: explained.map((one) => skillJson(one, explained)) }, checkLines(explained));
    });
  skills
    .command('info')
    .argument('<name>', 'name or folder of the skill')
    .description('show everything about one skill; only the names of keys and variables, no values')
    .option('--json', 'print JSON')
    .addHelpText('after', example('skills info NAME'))
    .action(async (name: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<LookOptions>();
      const { explained } = await readSkills(world, common);
      const found = mustHave(explained, name);
      await show(json, skillJson(found, explained), infoLines(found, explained));
    });
};

const addInstall = (skills: Command, world: World): void => {
  skills
    .command('install')
    .argument('<name>', 'a local skill, to install its programs; or <slug> or <slug>@<version> from the registry')
    .description('install the programs of a skill, or a skill from the registry, after confirmation')
    .option('--spec <id>', 'programs: use this install spec')
    .option('--yes', 'do not ask for confirmation')
    .option('--force', 'registry: overwrite local changes, and accept warnings of the registry')
    .option('--dir <folder>', 'registry: install to this folder')
    .option('--managed', 'registry: install to the folder shared by all agents')
    .addHelpText('after', example('skills install NAME'))
    .action(async (name: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<ProgramOptions & RegistryCommandOptions>();
      const { explained } = await readSkills(world, options);
      const isHere = skillNamed(explained, name) !== undefined && !options.force;
      if (isHere || options.spec !== undefined) await installPrograms(world, name, options);
      else await installFromRegistry(world, name, options);
    });
};

const addRegistry = (skills: Command, world: World): void => {
  const { terminal } = world;
  skills
    .command('search')
    .argument('<words...>', 'words to search for')
    .description('search the registry')
    .option('--limit <count>', 'maximum number of results', wholeNumber(1, limits.registryRows), 20)
    .option('--json', 'print JSON')
    .addHelpText('after', example('skills search calendar'))
    .action(async (words: string[], _: unknown, command: Command) => {
      const { json, limit, ...common } = command.optsWithGlobals<LookOptions & { limit: number }>();
      const found = await searchRegistry(world, common, words.join(' '), limit);
      if (json) return terminal.out(asJson({ results: found }, 2));
      if (found.length === 0) return terminal.note('no results');
      const rows = found.map(({ slug, version, summary }) => [slug, version ?? '-', oneLine(summary ?? '', 80)]);
      for (const line of table(['SLUG', 'VERSION', 'SUMMARY'], rows)) terminal.out(line);
    });
  skills
    .command('update')
    .argument('[slug]', 'skill that was installed from the registry')
    .description('update skills to the latest version in the registry')
    .option('--all', 'update all skills installed from the registry')
    .option('--yes', 'do not ask for confirmation')
    .option('--force', 'overwrite local changes, and accept warnings of the registry')
    .option('--dir <folder>', 'skills in this folder')
    .option('--managed', 'skills in the folder shared by all agents')
    .addHelpText('after', example('skills update --all'))
    .action(async (slug: string | undefined, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<RegistryCommandOptions & { all?: boolean }>();
      if ((slug === undefined) === (options.all !== true)) throw new NatterError('invalid', 'name one skill, or use --all');
      if ((await updateFromRegistry(world, slug, options)) > 0) process.exitCode = 1;
    });
  skills
    .command('sync')
    .description('compare your skills with the registry, and publish new and changed ones')
    .option('--all', 'publish all without confirmation')
    .option('--dry-run', 'only compare')
    .option('--dir <folder>', 'skills in this folder')
    .option('--managed', 'skills in the folder shared by all agents')
    .addHelpText('after', example('skills sync --dry-run'))
    .action((_: unknown, command: Command) => syncWithRegistry(world, command.optsWithGlobals<SyncOptions>()));
};
