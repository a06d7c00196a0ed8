import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { NatterError } from '../errors.ts';
import { limits } from '../limits.ts';
import { quoted } from '../one-line.ts';
import { OutputKeeper } from './output-keeper.ts';

/** A program and its arguments, run without a shell. */
export interface Program {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly timeoutMs: number;
  /** Called with each chunk of output as it arrives. */
  heard?(chunk: Buffer): void;
}
/** How a program ended: with an exit code, by a signal, or by the timeout. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Standard output and standard error, in the order of arrival. */
  readonly output: string;
}

/**
 * Runs a program in a process group of its own. When it exits, times out, or `signal` aborts, the whole group is killed,
 * including background processes. Throws `invalid` when the program cannot be started.
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
      // A background process may keep the pipes open for ever.
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

/** Without free file handles there are no pipes; `exitOf` then reports the error. */
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

/** The group has the id of its first process, as long as any process of it runs. */
export const killGroup = ({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone.
  }
};
