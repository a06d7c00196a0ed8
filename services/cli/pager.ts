import { spawn } from 'node:child_process';
import { terminalText, type World } from './terminal.ts';

/** Shows long results on a terminal one screen at a time. */

/**
 * Prints lines; if they are more than the terminal shows at once, with `$PAGER`, else `less -R`. `PAGER=cat`, or an output that is no terminal:
 * straight. Resolves when the person has left the pager.
 */
export const showLines = async ({ terminal, output, env }: World, lines: readonly string[]): Promise<void> => {
  const rows = terminal.interactive ? ((output as NodeJS.WriteStream).rows ?? 0) : 0;
  if (rows === 0 || lines.length < rows || env.PAGER === 'cat' || !(await paged(lines.map(terminalText).join('\n'), env)))
    for (const line of lines) terminal.out(line);
};

/** False if there is no such pager. */
const paged = (text: string, env: World['env']): Promise<boolean> =>
  new Promise((resolve) => {
    // Ctrl-C is for the pager.
    const ignored = (): void => {};
    process.on('SIGINT', ignored);
    const pager = spawn(env.PAGER ?? 'less -R', {
      shell: true,
      stdio: ['pipe', 'inherit', 'ignore'],
      // It ends by itself where the text fits after all, and leaves the text on the screen.
      env: { LESS: 'FRX', ...env },
    });
    const ended = (isShown: boolean): void => {
      process.off('SIGINT', ignored);
      resolve(isShown);
    };
    pager.on('error', () => ended(false));
    // A shell says 127 of a program that it does not find, 126 of one that it may not run.
    pager.on('close', (code) => ended(code !== 127 && code !== 126));
    pager.stdin.on('error', () => {});
    pager.stdin.end(`${text}\n`);
  });
