import type { Command } from 'commander';
import { limits } from '../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../access.ts';
import type { World } from '../terminal.ts';
import { tellRun } from './send.ts';

interface CompactOptions extends CommonOptions {
  readonly instructions?: string;
  readonly wait: number;
  readonly json?: boolean;
}

/** `natter compact` (A11/126): a summary instead of what was said so far. Exit code 1 when the run failed or is not done. */
export const compactCommand = (program: Command, world: World): void => {
  program
    .command('compact')
    .argument('<key>', 'the session, such as agent:main:main')
    .description('summarise what was said so far, to make room in the model’s window')
    .option('--instructions <text>', 'what the summary is to keep')
    .option('--wait <seconds>', 'how long to wait for it', wholeNumber(1, limits.waitSeconds), limits.waitSeconds)
    .option('--json', 'the answer of the gateway as JSON')
    .action(async (key: string, _: unknown, command: Command) => {
      const { instructions, wait, json = false, ...common } = command.optsWithGlobals<CompactOptions>();
      const run = await clientOf(world, common).sessions.compact(key, { instructions, wait, patienceMs: 10_000 });
      tellRun(world, key, run, json);
    });
};
