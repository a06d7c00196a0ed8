import { Argument, type Command } from 'commander';
import { wholeNumber } from '../access.ts';
import type { ServiceOptions } from '../runtime/run-service.ts';
import type { World } from '../terminal.ts';
import { type ServiceName, workerNames } from '../worker-names.ts';

/** `natter service`: one service alone, against the configured broker or the one of a running `natter up`. */
export const serviceCommand = (program: Command, world: World): void => {
  program
    .command('service')
    .addArgument(new Argument('<name>', 'which one').choices([...workerNames, 'gateway']))
    .description('run one service alone; ends with SIGTERM')
    .option(
      '--metrics-port <port>',
      'serve GET /metrics there, on gateway.host (a gateway serves its own)',
      wholeNumber(0, 65_535),
    )
    .action(async (name: ServiceName, _: unknown, command: Command) => {
      // Loaded only when it is needed: the services are most of the program.
      const { runService } = await import('../runtime/run-service.ts');
      await runService(world, name, command.optsWithGlobals<ServiceOptions>());
    });
};
