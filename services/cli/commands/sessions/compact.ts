import type { Command } from 'commander';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { showRun } from '../../show-run.ts';
import type { World } from '../../terminal.ts';

interface CompactOptions extends CommonOptions {
  readonly instructions?: string;
  readonly wait: number;
  readonly json?: boolean;
}

/** `natter compact` (A11/126): replaces the conversation so far by a summary. Exit code 1 if the run failed or is not done. */
export const compactCommand = (program: Command, world: World): void => {
  program
    .command('compact')
    .argument('<key>', 'session key, such as agent:main:main')
    .option('--instructions <text>', 'what the summary must keep')
    .option(
      '--wait <seconds>',
      `how long to wait for the summary, at most ${limits.waitSeconds}`,
      wholeNumber(1, limits.waitSeconds),
      limits.waitSeconds,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('compact agent:main:main --instructions "keep the open tasks"'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { instructions, wait, json = false, ...common } = command.optsWithGlobals<CompactOptions>();
      const run = await clientOf(world, common).sessions.compact(key, { instructions, wait, patienceMs: 10_000 });
      await showRun(world, key, run, json);
    });
};
