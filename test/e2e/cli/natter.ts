import { Command } from 'commander';
import type { Terminal, World } from '../../../services/cli/terminal.ts';
import { token } from '../gateway/setup.ts';

/** Adds a command, as those in services/cli/commands do. */
export type AddCommand = (program: Command, world: World) => void;

/** A command line of ours in this process, with what it prints and says beside it so far. */
export interface Natter {
  readonly out: string[];
  readonly notes: string[];
  /** Resolves when it ends by itself or by `interrupt`. */
  readonly done: Promise<unknown>;
  interrupt(): void;
}
/** Runs `natter …` against a gateway, with an environment. */
export const natterIn = (
  env: Readonly<Record<string, string>>,
  url: string,
  commands: readonly AddCommand[],
  ...given: readonly string[]
): Natter => {
  const [out, notes]: [string[], string[]] = [[], []];
  const interrupted = new AbortController();
  const terminal = { out: (line: string) => out.push(line), note: (line: string) => notes.push(line) } as unknown as Terminal;
  const world = {
    env,
    home: '/nonexistent',
    terminal,
    timeZone: 'UTC',
    now: () => Date.now(),
    interrupted: interrupted.signal,
  };
  const program = new Command('natter')
    .option('--url <url>')
    .option('--token <token>')
    .option('--token-file <file>')
    .exitOverride();
  for (const add of commands) add(program, world as unknown as World);
  const done = program.parseAsync(['node', 'natter', '--url', url, '--token', token, ...given]);
  return { out, notes, done, interrupt: () => interrupted.abort() };
};
/** The same, with an empty one. */
export const natter = (url: string, commands: readonly AddCommand[], ...given: readonly string[]): Natter =>
  natterIn({}, url, commands, ...given);
