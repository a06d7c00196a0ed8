import type { Command } from 'commander';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { type CommonOptions, wholeNumber } from '../access.ts';
import { mustHave, readSkills, skillNamed } from '../skills/known.ts';
import { installPrograms, type ProgramOptions } from '../skills/programs.ts';
import {
  installFromRegistry,
  type RegistryOptions,
  type SyncOptions,
  searchRegistry,
  syncWithRegistry,
  updateFromRegistry,
} from '../skills/registry.ts';
import { checkLines, infoLines, listLines, skillJson } from '../skills/view.ts';
import { asJson, oneLine, table, type World } from '../terminal.ts';

interface LookOptions extends CommonOptions {
  readonly json?: boolean;
  readonly eligible?: boolean;
}

/** `natter skills …`: which skills there are and why, their programs, and registries of them (A15). */
export const skillsCommand = (program: Command, world: World): void => {
  const skills = program
    .command('skills')
    .description('what the agent is taught: which skills there are, and where more come from');
  addLooking(skills, world);
  addInstall(skills, world);
  addRegistry(skills, world);
};

const addLooking = (skills: Command, world: World): void => {
  const { terminal } = world;
  const show = (json: boolean | undefined, value: unknown, lines: readonly string[]): void => {
    for (const line of json ? [asJson(value, 2)] : lines) terminal.out(line);
  };
  skills
    .command('list')
    .description('list the skills, highest precedence first')
    .option('--eligible', 'only those that the agent has')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, eligible, ...common } = command.optsWithGlobals<LookOptions>();
      const { explained } = await readSkills(world, common);
      const shown = explained.filter(({ status }) => !eligible || status === 'eligible');
      if (shown.length === 0) terminal.note('there are none; put one into the folder skills of the workspace');
      show(json, { skills: shown.map((one) => skillJson(one, explained)) }, shown.length === 0 ? [] : listLines(shown));
    });
  skills
    .command('check')
    .description('say of each skill whether the agent has it, and if not, why')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<LookOptions>();
      const { explained } = await readSkills(world, common);
      show(json, { skills: explained.map((one) => skillJson(one, explained)) }, checkLines(explained));
    });
  skills
    .command('info')
    .argument('<name>', 'its name, or its folder')
    .description('all about one skill; of keys and variables only the names')
    .option('--json', 'as JSON')
    .action(async (name: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<LookOptions>();
      const { explained } = await readSkills(world, common);
      const found = mustHave(explained, name);
      show(json, skillJson(found, explained), infoLines(found, explained));
    });
};

const addInstall = (skills: Command, world: World): void => {
  skills
    .command('install')
    .argument('<name>', 'a skill that is here, to install its programs; else <slug> or <slug>@<version> of the registry')
    .description('show what will be done, ask, and do it')
    .option('--spec <id>', 'of the programs, this install spec')
    .option('--yes', 'do not ask')
    .option('--force', 'from the registry: also over local changes, and what the registry warns of')
    .option('--dir <folder>', 'from the registry: to this folder')
    .option('--managed', 'from the registry: to the folder that all agents have')
    .action(async (name: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<ProgramOptions & RegistryOptions>();
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
    .argument('<words...>', 'what it is to be about')
    .description('search the registry')
    .option('--limit <number>', 'how many', wholeNumber(1, limits.registryRows), 20)
    .option('--json', 'as JSON')
    .action(async (words: string[], _: unknown, command: Command) => {
      const { json, limit, ...common } = command.optsWithGlobals<LookOptions & { limit: number }>();
      const found = await searchRegistry(world, common, words.join(' '), limit);
      if (json) return terminal.out(asJson({ results: found }, 2));
      if (found.length === 0) return terminal.note('the registry has none');
      const rows = found.map(({ slug, version, summary }) => [slug, version ?? '-', oneLine(summary ?? '', 80)]);
      for (const line of table(['SLUG', 'VERSION', 'SUMMARY'], rows)) terminal.out(line);
    });
  skills
    .command('update')
    .argument('[slug]', 'a skill that was installed from the registry')
    .description('bring skills to the latest version of the registry')
    .option('--all', 'all that were installed from it')
    .option('--yes', 'do not ask')
    .option('--force', 'also over local changes, and what the registry warns of')
    .option('--dir <folder>', 'those of this folder')
    .option('--managed', 'those of the folder that all agents have')
    .action(async (slug: string | undefined, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<RegistryOptions & { all?: boolean }>();
      if ((slug === undefined) === (options.all !== true)) throw new NatterError('invalid', 'name one skill, or use --all');
      if ((await updateFromRegistry(world, slug, options)) > 0) process.exitCode = 1;
    });
  skills
    .command('sync')
    .description('compare your own skills with the registry, and publish those that are new or changed')
    .option('--all', 'publish all without asking')
    .option('--dry-run', 'only compare')
    .option('--dir <folder>', 'those of this folder')
    .option('--managed', 'those of the folder that all agents have')
    .action((_: unknown, command: Command) => syncWithRegistry(world, command.optsWithGlobals<SyncOptions>()));
};
