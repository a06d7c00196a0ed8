import { Argument, type Command } from 'commander';
import { type ServiceName, workerNames } from '../../../../shared/runtime/worker-names.ts';
import { wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import type { ServiceOptions } from '../../runtime/run-service.ts';
import type { World } from '../../terminal.ts';

/** `natter service`: runs one service, at the configured broker or that of a running `natter up`. */
export const serviceCommand = (program: Command, world: World): void => {
  program
    .command('service')
    .addArgument(new Argument('<name>', 'the service').choices([...workerNames, 'gateway']))
    .option(
      '--metrics-port <port>',
      'serve /livez, /readyz and /metrics on this port of gateway.host (a gateway serves its own)',
      wholeNumber(0, 65_535),
    )
    .addHelpText('after', example('service session --metrics-port 9464'))
    .action(async (name: ServiceName, _: unknown, command: Command) => {
      // Loaded on demand: the services are most of the program.
      const { runService } = await import('../../runtime/run-service.ts');
      await runService(world, name, command.optsWithGlobals<ServiceOptions>());
    });
};
