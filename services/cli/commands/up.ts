import type { Command } from 'commander';
import { wholeNumber } from '../access.ts';
import type { UpOptions } from '../runtime/up.ts';
import type { World } from '../terminal.ts';

const mostHosts = 64;

/** `natter up`: the broker and every service, until Ctrl-C or SIGTERM. */
export const upCommand = (program: Command, world: World): void => {
  program
    .command('up')
    .description('start the broker and every service; on a terminal, chat')
    .option('--hosts <count>', 'session hosts; from 2 on as processes of their own', wholeNumber(1, mostHosts), 1)
    .option('--port <port>', 'port of the gateway; 0: any free one', wholeNumber(0, 65_535))
    .option('--no-chat', 'no prompt, log lines instead')
    .action(async (_: unknown, command: Command) => {
      // Loaded only when it is needed: the services are most of the program.
      const { up } = await import('../runtime/up.ts');
      await up(world, command.optsWithGlobals<UpOptions>());
    });
};
