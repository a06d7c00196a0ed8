import type { Argument, Command, Option } from 'commander';
import type { CommonOptions } from './access.ts';

/** What could stand at the cursor, and what it would mean there. */
export interface Completion {
  readonly word: string;
  readonly means: string;
}

/** Where on a command line the cursor is. */
interface Place {
  readonly command: Command;
  /** Arguments before it. */
  readonly arguments: number;
  /** The option whose value it is. */
  readonly awaited: Option | undefined;
  readonly common: CommonOptions;
}

/** The words of a command line after the program's name, the last one unfinished; and who knows the sessions there are. */
export const completing = async (
  program: Command,
  words: readonly string[],
  sessionKeys: (common: CommonOptions) => Promise<readonly string[]>,
): Promise<Completion[]> => {
  const current = words.at(-1) ?? '';
  const { command, arguments: count, awaited, common } = placeAfter(program, words.slice(0, -1));
  const offered = async (of: Option | Argument): Promise<Completion[]> => {
    const choices = of.argChoices ?? (/^(key|prefix)$/.test(valueName(of)) ? await sessionKeys(common) : []);
    return choices.map((word) => ({ word, means: '' }));
  };
  const found = async (): Promise<Completion[]> => {
    if (awaited) return offered(awaited);
    if (current.startsWith('-'))
      return optionsOf(command).map(({ long, description }) => ({ word: long ?? '', means: description }));
    const argument = command.registeredArguments[count] ?? command.registeredArguments.findLast(({ variadic }) => variadic);
    const commands = count > 0 ? [] : visible(command).map((each) => ({ word: each.name(), means: each.description() }));
    return [...commands, ...(argument ? await offered(argument) : [])];
  };
  return (await found()).filter(({ word }) => word.startsWith(current));
};

/** Follows finished words down the tree of commands. */
const placeAfter = (program: Command, words: readonly string[]): Place => {
  let command = program;
  let count = 0;
  let awaited: Option | undefined;
  const common: Record<string, string> = {};
  for (const word of words) {
    if (awaited !== undefined && !(awaited.optional && word.startsWith('-'))) {
      common[awaited.attributeName()] = word;
      awaited = undefined;
      continue;
    }
    awaited = undefined;
    const option = word.startsWith('-')
      ? optionsOf(command).find((each) => each.long === word || each.short === word)
      : undefined;
    if (option) awaited = option.required || option.optional ? option : undefined;
    if (word.startsWith('-')) continue;
    const next = count === 0 ? command.commands.find((each) => each.name() === word) : undefined;
    if (next) command = next;
    else count += 1;
  }
  return { command, arguments: count, awaited, common };
};

/** Its own options and those of the commands above it. */
const optionsOf = (command: Command): Option[] => [
  ...command.createHelp().visibleOptions(command),
  ...(command.parent ? optionsOf(command.parent).filter(({ long }) => long !== '--help' && long !== '--version') : []),
];
const visible = (command: Command): Command[] => command.createHelp().visibleCommands(command);
/** `key` of `--key <key>` and of `<key>`. */
const valueName = (of: Option | Argument): string => ('flags' in of ? (/[<[]([\w-]+)/.exec(of.flags)?.[1] ?? '') : of.name());
