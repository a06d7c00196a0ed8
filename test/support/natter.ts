import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { createTerminal, type World } from '../../services/cli/terminal.ts';

/** How a command of `natter` is added to the program. */
type Add = (program: Command, world: World) => void;

/** Runs commands of `natter` in this process. `home` is where it looks for its files, `env` its environment. */
export const natterWith =
  (
    commands: readonly Add[],
    {
      home,
      env = {},
      now = () => 0,
      timeZone = 'UTC',
    }: { home: string; env?: Readonly<Record<string, string>>; now?: () => number; timeZone?: string },
  ) =>
  /** Resolves with what it prints on standard output. */
  async (...words: readonly string[]): Promise<string> => {
    let printed = '';
    const world: World = {
      env: { NATTER_DATA_DIR: home, ...env },
      home,
      terminal: createTerminal({
        out: { write: (text: string) => (printed += text) },
        err: { write: () => {} },
        interactive: false,
        now,
      }),
      input: new PassThrough(),
      output: new PassThrough(),
      program: 'natter',
      version: '0',
      timeZone,
      now,
      interrupted: new AbortController().signal,
    };
    const program = new Command('natter').option('--url <url>').option('--token <token>').option('--utc').exitOverride();
    for (const add of commands) add(program, world);
    await program.parseAsync(words, { from: 'user' });
    return printed;
  };
