import type { Command } from 'commander';
import { example } from '../../example.ts';
import type { InitOptions } from '../../init/init.ts';
import type { World } from '../../terminal.ts';

/** `natter init`: from a key in the environment, or a server on this machine, to a configuration that works. */
export const initCommand = (program: Command, world: World): void => {
  program
    .command('init')
    .option('--provider <name>', 'provider such as openai, anthropic or ollama; "offline" for none')
    .option('--model <name>', 'model, as the provider calls it (default: a usual one that it offers)')
    .option('--base-url <url>', 'address of an OpenAI-compatible API')
    .option('--key-env <variable>', 'environment variable that holds the key')
    .option('--key-file <file>', 'file that holds the key; only you may read it (chmod 600)')
    .option('--key-command <words...>', 'program that prints the key, with its arguments')
    .option('--no-test', 'write the configuration without asking the model first')
    .option('--force', 'replace a configuration that exists; the old one is kept as a .bak file')
    .addHelpText('after', example('init --provider openai --model gpt-5-mini'))
    .action(async (_: unknown, command: Command) => {
      const { init } = await import('../../init/init.ts');
      await init(world, command.optsWithGlobals<InitOptions>());
    });
};
