import type { Command } from 'commander';
import { subjectsUnder } from '../../../../shared/wire/subjects.ts';
import { atBroker, type CommonOptions, configOf } from '../../access.ts';
import { example } from '../../example.ts';
import { installationIn, usersFolder } from '../../installation.ts';
import type { World } from '../../terminal.ts';

interface BrokerOptions extends CommonOptions {
  /** The folder with the seeds. */
  readonly users?: string;
  readonly channel?: readonly string[];
}

/** `natter broker config` and `natter broker check`: the users of the broker and their rights. */
export const brokerCommand = (program: Command, world: World): void => {
  const broker = program.command('broker').addHelpText('after', example('broker config --users ./broker-users'));
  const folderOf = ({ users, ...options }: BrokerOptions): string => {
    const { dataDir, nats } = configOf(world, options);
    return users ?? nats.usersDir ?? usersFolder(dataDir);
  };

  broker
    .command('config')
    .description('make a seed for each user that has none, and print the account for the configuration of nats-server')
    .option('--users <folder>', 'folder of the seeds (default: nats.usersDir, or that of the managed broker)')
    .option('--channel <name>', 'also make a user for the connector of this channel; repeatable', (name, all: string[] = []) => [
      ...all,
      name,
    ])
    .addHelpText('after', example('broker config --users ./broker-users --channel telegram'))
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<BrokerOptions>();
      const { accountConfig, makeUsers, serverUsers, usersIn } = await import('../../broker/users.ts');
      const folder = folderOf(options);
      makeUsers(folder, options.channel ?? []);
      const users = serverUsers(usersIn(folder), subjectsUnder(configOf(world, options).prefix));
      world.terminal.out(accountConfig(users).trimEnd());
      world.terminal.note(`the seeds are in ${folder}: give each process its own, and nobody else any`);
    });

  broker
    .command('check')
    .description('connect as each user and compare what the broker allows with what it should; exit code 1 if it differs')
    .option('--users <folder>', 'folder of the seeds (default: nats.usersDir, or that of the managed broker)')
    .addHelpText('after', example('broker check'))
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<BrokerOptions>();
      const config = atBroker(world, options);
      // Loaded on demand: the broker client is large.
      const { usersIn } = await import('../../broker/users.ts');
      const { checkUser } = await import('../../runtime/broker-check.ts');
      const { serversOf } = await import('../../runtime/broker.ts');
      const servers = serversOf(config, installationIn(config.dataDir));
      for (const user of usersIn(folderOf(options))) {
        const problems = await checkUser(config, servers, user);
        world.terminal.out(`${problems.length === 0 ? 'ok  ' : 'fail'}  ${user.name}`);
        for (const problem of problems) world.terminal.out(`      ${problem}`);
        if (problems.length > 0) process.exitCode = 1;
      }
    });
};
