import { Command } from 'commander';
import { suggest } from '../../../shared/domain/config/suggest.ts';
import { example } from '../example.ts';
import type { World } from '../terminal.ts';
import { commandGroups } from './groups.ts';

const below = (command: Command, name: string): Command | undefined => command.commands.find((each) => each.name() === name);

const refuseUnknown = (command: Command, name: string): never => {
  const names = command.commands.map((each) => each.name());
  const near = suggest(name, names);
  const own = names.filter((each) => each !== 'help');
  const its = own.length === 0 ? `${command.name()} has no commands of its own` : `It has: ${own.join(', ')}`;
  // Those of the program are too many for a line.
  const others = command.parent === null ? '' : `\n(${its})`;
  const advice = near === null ? others : `\n(Did you mean ${near}?)`;
  return command.error(`error: unknown command '${name}'${advice}`, { code: 'commander.unknownCommand' });
};

/** The options of the program, in the help of each command below it. */
const globalOptions =
  '\nGlobal options: --url, --token, --token-file, --config, --data-dir, --utc\n(natter --help explains them)';

/** `help`, for this command and those below it. That of commander takes one name, and says nothing about one that it does not know. */
const addHelp = (command: Command): void => {
  for (const each of command.commands) if (each.commands.length > 0) addHelp(each);
  command
    .helpCommand(false)
    .command('help [command...]')
    .description('display help for command')
    .action((names: string[]) => names.reduce((at, name) => below(at, name) ?? refuseUnknown(at, name), command).help());
};

/** An error of commander: of an argument that is missing, with what it is and its choices; of a wrong one, without commander's own words. */
const plainError = (text: string, { registeredArguments }: Command): string => {
  const missing = /^error: missing required argument '(.+)'/.exec(text)?.[1];
  const { description = '', argChoices } = registeredArguments.find((each) => each.name() === missing) ?? {};
  const choices = argChoices === undefined ? '' : `; one of ${argChoices.join(', ')}`;
  return description === '' ? text.replace('command-argument value ', '') : `${text}(${missing}: ${description}${choices})\n`;
};

/** Each command's errors are followed by the line that shows its own help. */
const nameInErrors = (command: Command, path: string): void => {
  const { outputError = (text, write) => write(text) } = command.configureOutput();
  command
    .configureOutput({ outputError: (text, write) => outputError(plainError(text, command), write) })
    .showHelpAfterError(`(run "${path} --help" for usage)`);
  for (const each of command.commands) nameInErrors(each, `${path} ${each.name()}`);
};

/**
 * The command line, with all of the command that `args` name, and of each other one its name and line. Without `args`, and to complete words, with
 * all of every command. `CommanderError` is thrown where commander would end the process.
 */
export const createProgram = async (world: World, args?: readonly string[]): Promise<Command> => {
  const program = new Command('natter')
    .description('Natter: the durable session runtime for chat agents')
    .version(world.version)
    .option('--url <url>', 'address of the gateway (or NATTER_URL)')
    .option('--token <token>', 'token for the gateway (safer: NATTER_TOKEN, which other users cannot see)')
    .option('--token-file <file>', 'file with the token for the gateway')
    .option('--config <file>', 'configuration file (or NATTER_CONFIG)')
    .option('--data-dir <folder>', 'data directory (or NATTER_DATA_DIR)')
    .option('--utc', 'print times in UTC instead of the local time zone')
    .addHelpText('after', example('up'))
    .addHelpText('afterAll', ({ command }) => (command.parent === null ? '' : globalOptions))
    .exitOverride();
  const { operands } = program.parseOptions([...(args ?? [])]);
  const [named, word] = operands[0] === 'help' ? operands.slice(1, 2) : operands;
  const isWhole = args === undefined || named === 'completions';
  for (const { title, commands } of commandGroups) {
    program.commandsGroup(`${title}:`);
    for (const [name, { line, load }] of Object.entries(commands)) {
      if (isWhole || name === named) (await load())(program, world);
      else program.command(name);
      below(program, name)?.description(line);
    }
  }
  addHelp(program);
  nameInErrors(program, program.name());
  program.on('command:*', ([name = '']: string[]) => refuseUnknown(program, name));
  const command = below(program, named ?? '');
  // Commander takes it for an argument of the command that stands for none, such as `list`.
  if (command !== undefined && word !== undefined && command.commands.length > 0 && command.registeredArguments.length === 0)
    if (below(command, word) === undefined) refuseUnknown(command, word);
  return program;
};
