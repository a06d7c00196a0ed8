import type { Command } from 'commander';
import { atBroker, type CommonOptions } from '../../access.ts';
import { example } from '../../example.ts';
import { installationIn } from '../../installation.ts';
import type { World } from '../../terminal.ts';

/** `natter nats install`, `natter nats provision` and `natter nats repair-meta`. */
export const natsCommand = (program: Command, world: World): void => {
  const nats = program.command('nats').addHelpText('after', example('nats install'));

  nats
    .command('install')
    .description('install nats-server into the user cache, unless one that is new enough is found')
    .option('--force', 'install even if one is found')
    .addHelpText('after', example('nats install'))
    .action(async (_: unknown, command: Command) => {
      const { force } = command.optsWithGlobals<CommonOptions & { force?: boolean }>();
      const { installServer, obtainServer } = await import('../../broker/install.ts');
      const { version, path } = await (force ? installServer : obtainServer)(world.env, world.terminal);
      world.terminal.out(`nats-server ${version}  ${path}`);
    });

  nats
    .command('provision')
    .description('create or update the streams and consumers on the broker; correct ones stay as they are')
    .addHelpText('after', example('nats provision'))
    .action(async (_: unknown, command: Command) => {
      const { existingBroker, provisionBroker } = await import('../../runtime/broker.ts');
      const config = atBroker(world, command.optsWithGlobals<CommonOptions>());
      const created = await provisionBroker(config, existingBroker(config, installationIn(config.dataDir), 'provisioner'));
      world.terminal.out(
        created.length === 0 ? 'all streams and consumers exist' : `created ${created.length} streams and consumers`,
      );
    });

  nats
    .command('repair-meta')
    .argument('<stream>', 'name of the stream')
    .description('put back the damaged description of a stream that the broker left out; stop "natter up" first')
    .addHelpText('after', example('nats repair-meta NATTER_EVENTS'))
    .action(async (stream: string, _: unknown, command: Command) => {
      const { repairDescription } = await import('../../broker/store.ts');
      await repairDescription(atBroker(world, command.optsWithGlobals<CommonOptions>()).dataDir, stream);
      world.terminal.out(`the description of ${stream} is put back; start "natter up"`);
    });
};
