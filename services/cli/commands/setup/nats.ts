import type { Command } from 'commander';
import { atBroker, type CommonOptions } from '../../access.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import type { World } from '../../terminal.ts';

/** `natter nats install` and `natter nats provision`. */
export const natsCommand = (program: Command, world: World): void => {
  const nats = program
    .command('nats')
    .description('install and provision the broker, nats-server')
    .addHelpText('after', example('nats install'));

  nats
    .command('install')
    .description('install nats-server into the user cache, unless a recent one is found')
    .option('--force', 'install even if one is found')
    .addHelpText('after', example('nats install'))
    .action(async (_: unknown, command: Command) => {
      const { force } = command.optsWithGlobals<CommonOptions & { force?: boolean }>();
      const { installServer, obtainServer } = await import('../../broker/install.ts');
      const progress = (line: string): void => world.terminal.note(line);
      const { version, path } = await (force ? installServer(world.env, progress) : obtainServer(world.env, progress));
      world.terminal.out(`nats-server ${version}  ${path}`);
    });

  nats
    .command('provision')
    .description('create the streams and consumers on the broker; leaves correct ones unchanged')
    .addHelpText('after', example('nats provision'))
    .action(async (_: unknown, command: Command) => {
      const { existingBroker, provisionBroker } = await import('../../runtime/broker.ts');
      const config = atBroker(world, command.optsWithGlobals<CommonOptions>());
      const created = await provisionBroker(config, existingBroker(config, installationIn(config.dataDir), 'provisioner'));
      world.terminal.out(
        created.length === 0 ? 'all streams and consumers exist' : `created ${created.length} streams and consumers`,
      );
    });
};
