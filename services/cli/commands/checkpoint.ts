import type { Command } from 'commander';
import { type CommonOptions, clientOf } from '../access.ts';
import { asJson, type World } from '../terminal.ts';

type CheckpointOptions = CommonOptions & { readonly json?: boolean };

/** `natter checkpoint` (A7/80–81): what was said since the last time is looked back on. */
export const checkpointCommand = (program: Command, world: World): void => {
  program
    .command('checkpoint')
    .argument('<key>', 'the session, such as agent:main:main')
    .description('look back on what was said since the last time, so that it is remembered')
    .option('--json', 'the answer of the gateway as JSON')
    .action(async (key: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CheckpointOptions>();
      const answer = await clientOf(world, common).sessions.checkpoint(key, { patienceMs: 10_000 });
      if (json) world.terminal.out(asJson(answer, 2));
      else world.terminal.out(answer.requested === false ? 'nothing was said since the last checkpoint' : 'looking back');
    });
};
