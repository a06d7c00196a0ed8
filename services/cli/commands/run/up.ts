import type { Command } from 'commander';
import { wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import type { UpOptions } from '../../runtime/up.ts';
import type { World } from '../../terminal.ts';

const mostHosts = 64;

/** `natter up`: runs the broker and every service until Ctrl-C or SIGTERM. */
export const upCommand = (program: Command, world: World): void => {
  program
    .command('up')
    .option(
      '--hosts <count>',
      'number of session hosts; with 2 or more, each is a separate process',
      wholeNumber(1, mostHosts),
      1,
    )
    .option('--port <port>', 'port of the gateway (default: gateway.port, 4600); 0 picks a free one', wholeNumber(0, 65_535))
    .option('--no-chat', 'print the log instead of opening a chat')
    .addHelpText('after', example('up --hosts 2'))
    .action(async (_: unknown, command: Command) => {
      // Loaded on demand: the services are most of the program.
      const { up } = await import('../../runtime/up.ts');
      await up(world, command.optsWithGlobals<UpOptions>());
    });
};
