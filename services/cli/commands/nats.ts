import type { Command } from 'commander';
import { atBroker, type CommonOptions } from '../access.ts';
import { installationIn } from '../installation.ts';
import type { World } from '../terminal.ts';

/** `natter nats install` and `natter nats provision`. */
export const natsCommand = (program: Command, world: World): void => {
  const nats = program.command('nats').description('the broker: nats-server');

  nats
    .command('install')
    .description('make sure there is a nats-server that is new enough; installs one into the user cache if not')
    .option('--force', 'install even if there is one')
    .action(async (_: unknown, command: Command) => {
      const { force } = command.optsWithGlobals<CommonOptions & { force?: boolean }>();
      const { installServer, obtainServer } = await import('../broker/install.ts');
      const progress = (line: string): void => world.terminal.note(line);
      const { version, path } = await (force ? installServer(world.env, progress) : obtainServer(world.env, progress));
      world.terminal.out(`nats-server ${version}  ${path}`);
    });

  nats
    .command('provision')
    .description('create the streams and consumers on the broker; changes nothing that is there and right')
    .action(async (_: unknown, command: Command) => {
      const { existingBroker, provisionBroker } = await import('../runtime/broker.ts');
      const config = atBroker(world, command.optsWithGlobals<CommonOptions>());
      const created = await provisionBroker(config, existingBroker(config, installationIn(config.dataDir)));
      world.terminal.out(created.length === 0 ? 'everything was there' : `created ${created.length} streams and consumers`);
    });
};
