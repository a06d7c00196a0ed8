import type { Command } from 'commander';
import { type CommonOptions, clientOf } from '../../access.ts';
import { example } from '../../example.ts';
import { asJson, type World } from '../../terminal.ts';

type CheckpointOptions = CommonOptions & { readonly json?: boolean };

/** `natter checkpoint` (A7/80–81): requests a checkpoint of what was said since the last one. */
export const checkpointCommand = (program: Command, world: World): void => {
  program
    .command('checkpoint')
    .argument('<key>', 'session key, such as agent:main:main')
    .option('--json', 'print JSON')
    .addHelpText('after', example('checkpoint agent:main:main'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CheckpointOptions>();
      const answer = await clientOf(world, common).sessions.checkpoint(key, { patienceMs: 10_000 });
      if (json) world.terminal.out(asJson(answer, 2));
      else world.terminal.out(answer.requested === false ? 'nothing was said since the last checkpoint' : 'checkpoint requested');
    });
};
