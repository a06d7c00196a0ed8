import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { NatterError } from '../errors.ts';
import { limits } from '../limits.ts';
import { quoted } from '../one-line.ts';
import { OutputKeeper } from './output-keeper.ts';

/** A program and its arguments; no shell reads them. */
export interface Program {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly timeoutMs: number;
  /** Hears what it writes, as it comes. */
  heard?(chunk: Buffer): void;
}
/** How it ended: with an exit code, by a signal, or because its time was over. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** What it wrote to its output and to its error output, in the order in which it came. */
  readonly output: string;
}

/**
 * Runs a program in a process group of its own. When it ends, or its time is over, or `signal` aborts, all of the group ends, also what it
 * left running in the background. Throws `invalid` when it cannot be started.
 */
export const runProgram = async (program: Program, signal: AbortSignal, clock: Clock): Promise<ProgramEnd> => {
  signal.throwIfAborted();
  const { command, cwd, env, timeoutMs } = program;
  const keep = (chunk: Buffer): void => {
    output.add(chunk);
    program.heard?.(chunk);
  };
  const [file = '', ...args] = command;
  const child = spawn(file, args, { cwd, env, detached: true, shell: false, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = exitOf(child, file);
  const output = new OutputKeeper(limits.programOutputBytes);
  const pipes = pipesOf(child);
  for (const pipe of pipes) pipe.on('data', keep).on('error', () => {});

  const over = new AbortController();
  const within = (ms: number) => clock.sleep(ms, over.signal);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    const first = await Promise.race([exit, within(timeoutMs), aborting(signal, over.signal)]);
    if (first) {
      // Somebody in the background may keep the pipes open for ever.
      await Promise.race([closed, within(limits.programDrainMs)]);
    } else {
      killGroup(child, 'SIGTERM');
      await Promise.race([closed, within(limits.programGraceMs)]);
    }
    killGroup(child, 'SIGKILL');
    const end = await Promise.race([exit, within(limits.programGraceMs)]);
    return { ...(end ?? { code: null, signal: 'SIGKILL' }), timedOut: !first, output: output.text() };
  } finally {
    over.abort();
    for (const pipe of pipes) pipe.destroy();
  }
};

/** A system that has no file handles left gives no pipes, and an error that `exitOf` tells. */
const pipesOf = ({ stdout, stderr }: ChildProcess): Readable[] => [stdout, stderr].filter((pipe) => pipe instanceof Readable);

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}
const exitOf = (child: ChildProcess, file: string): Promise<Exit> =>
  new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? 'there is no such program' : `it does not start: ${error.code ?? error.message}`;
      reject(new NatterError('invalid', `command.0: ${quoted(file)}: ${reason}`, { field: 'command.0', cause: error }));
    });
  });

const aborting = async (signal: AbortSignal, until: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort', { signal: until }).catch(() => {});
};

/** The group has the id of its first process, and keeps it as long as any of it runs. */
export const killGroup = ({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing of it runs any more.
  }
};
