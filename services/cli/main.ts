#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { argv, env, exit, stderr, stdin, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import pc from 'picocolors';
import { NatterApiError } from '../../shared/client/errors.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { createProgram } from './commands/program.ts';
import { interruptionOf } from './interruption.ts';
import { createTerminal, machineTimeZone, shownOn, type World } from './terminal.ts';

/** The folder of the nearest `package.json` above, and its version; works from the sources and from `dist`. */
const packageHere = (): { version: string; folder: string } => {
  for (const up of ['../..', '../../..']) {
    try {
      const folder = fileURLToPath(new URL(up, import.meta.url));
      const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: unknown };
      return { version: String(version), folder };
    } catch {}
  }
  return { version: 'unknown', folder: '.' };
};
const { version, folder } = packageHere();

const createWorld = (): World => {
  const interrupted = interruptionOf(process, (line) => stderr.write(`${line}\n`));
  // Such a terminal (of an editor, of a build) shows the sequences that move a cursor as text: no chat, no questions, nothing that moves.
  const isDumb = env.TERM === 'dumb';
  const interactive = stdin.isTTY === true && stdout.isTTY === true && !isDumb;
  return {
    // An empty variable counts as not set.
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
    home: homedir(),
    terminal: createTerminal({ out: shownOn(stdout, env), err: shownOn(stderr, env), interactive, now: () => Date.now() }),
    input: stdin,
    output: stdout,
    program: argv[1] ?? fileURLToPath(import.meta.url),
    version,
    now: () => Date.now(),
    // The first time zone that a process asks for takes longer than most commands run.
    get timeZone() {
      return machineTimeZone();
    },
    get interrupted() {
      return interrupted();
    },
  };
};

/** 2: the command line or the request is invalid; 1: it is valid, and failed. */
const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const code = error instanceof NatterError || error instanceof NatterApiError ? error.code : '';
  return code === 'invalid' ? 2 : 1;
};

// A reader that closes the pipe (`natter tail | head`) is not a failure.
stdout.on('error', (error: NodeJS.ErrnoException) => exit(error.code === 'EPIPE' ? 0 : 1));
const world = createWorld();
try {
  const program = await createProgram(world, argv.slice(2));
  // Messages name documents as they are called in the package.
  program.addHelpText('after', `\nDocuments:\n  ${join(folder, 'docs')}`);
  await program.parseAsync(argv);
} catch (error) {
  // Commander has printed its own errors already.
  if (!(error instanceof CommanderError)) {
    const { explained } = await import('./access.ts');
    world.terminal.note(`${pc.red('natter:')} ${explained(error)}`);
  }
  if (env.NATTER_LOG_LEVEL === 'debug' && error instanceof Error) world.terminal.note(error.stack ?? '');
  process.exitCode = exitCodeOf(error);
}
