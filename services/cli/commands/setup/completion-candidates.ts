import type { Argument, Command, Option } from 'commander';
import type { CommonOptions } from '../../access.ts';

/** A word that fits at the cursor, with its description. */
export interface Completion {
  readonly word: string;
  readonly description: string;
}

/** Where the cursor is on a command line. */
interface CursorPosition {
  readonly command: Command;
  /** Number of arguments before it. */
  readonly arguments: number;
  /** The option whose value is being typed. */
  readonly option: Option | undefined;
  readonly common: CommonOptions;
}

/** What there is at the gateway that a command names. */
export type Offer = (what: 'session' | 'approval', common: CommonOptions) => Promise<readonly Completion[]>;

/** By the name of the value. */
const offered: ReadonlyMap<string, Parameters<Offer>[0]> = new Map([
  ['key', 'session'],
  ['prefix', 'session'],
  ['approval', 'approval'],
]);

/**
 * What may complete a command line: `words` are those after the program's name, the last one unfinished. `offer` is called only where such a
 * value fits.
 */
export const completionCandidates = async (program: Command, words: readonly string[], offer: Offer): Promise<Completion[]> => {
  const current = words.at(-1) ?? '';
  const { command, arguments: count, option, common } = cursorAfter(program, words.slice(0, -1));
  const valuesOf = async (of: Option | Argument): Promise<readonly Completion[]> => {
    if (of.argChoices !== undefined) return of.argChoices.map((word) => ({ word, description: '' }));
    const what = offered.get(valueName(of));
    return what === undefined ? [] : offer(what, common);
  };
  const all = async (): Promise<readonly Completion[]> => {
    if (option) return valuesOf(option);
    if (current.startsWith('-')) return optionsAfter(command).map(({ long, description }) => ({ word: long ?? '', description }));
    const argument = command.registeredArguments[count] ?? command.registeredArguments.findLast(({ variadic }) => variadic);
    const commands = count > 0 ? [] : visible(command).map((each) => ({ word: each.name(), description: each.description() }));
    return [...commands, ...(argument ? await valuesOf(argument) : [])];
  };
  return (await all()).filter(({ word }) => word.startsWith(current));
};

/** Follows the finished words down the command tree. */
const cursorAfter = (program: Command, words: readonly string[]): CursorPosition => {
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
      ? optionsAfter(command).find((each) => each.long === word || each.short === word)
      : undefined;
    if (option) awaited = option.required || option.optional ? option : undefined;
    if (word.startsWith('-')) continue;
    const next = count === 0 ? command.commands.find((each) => each.name() === word) : undefined;
    if (next) command = next;
    else count += 1;
  }
  return { command, arguments: count, option: awaited, common };
};

/** Options that fit after the command: of a group those of its list, which it does without a command. */
const optionsAfter = (command: Command): Option[] =>
  optionsOf(command.commands.find((each) => each.name() === 'list') ?? command);
/** Options of the command and of its parents. */
const optionsOf = (command: Command): Option[] => [
  ...command.createHelp().visibleOptions(command),
  ...(command.parent ? optionsOf(command.parent).filter(({ long }) => long !== '--help' && long !== '--version') : []),
];
const visible = (command: Command): Command[] => command.createHelp().visibleCommands(command);
/** `key` of `--key <key>` and of `<key>`. */
const valueName = (of: Option | Argument): string => ('flags' in of ? (/[<[]([\w-]+)/.exec(of.flags)?.[1] ?? '') : of.name());
