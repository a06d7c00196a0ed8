import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { argv, env, exit, stderr, stdin, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import pc from 'picocolors';
import { NatterApiError } from '../../shared/client/main.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { explained } from './access.ts';
import { approvalsCommand } from './commands/approvals.ts';
import { auditCommand } from './commands/audit.ts';
import { checkpointCommand } from './commands/checkpoint.ts';
import { compactCommand } from './commands/compact.ts';
import { completionsCommand } from './commands/completions.ts';
import { configCommand } from './commands/config.ts';
import { deadLettersCommand } from './commands/dead-letters.ts';
import { diffCommand } from './commands/diff.ts';
import { doctorCommand } from './commands/doctor.ts';
import { eraseCommand } from './commands/erase.ts';
import { exportCommand } from './commands/export.ts';
import { forkCommand } from './commands/fork.ts';
import { gatewayCommand } from './commands/gateway.ts';
import { ingestCommand } from './commands/ingest.ts';
import { mcpCommand } from './commands/mcp.ts';
import { memoryCommand } from './commands/memory.ts';
import { natsCommand } from './commands/nats.ts';
import { replayCommand } from './commands/replay.ts';
import { sendCommand } from './commands/send.ts';
import { serviceCommand } from './commands/service.ts';
import { sessionsCommand } from './commands/sessions.ts';
import { skillsCommand } from './commands/skills.ts';
import { statusCommand } from './commands/status.ts';
import { tailCommand } from './commands/tail.ts';
import { tokenCommand } from './commands/token.ts';
import { upCommand } from './commands/up.ts';
import { whyResetCommand } from './commands/why-reset.ts';
import { createTerminal, type World } from './terminal.ts';

/** The first signal asks for a good end, the second one ends at once. Commands that do not ask for the signal end by it as ever. */
const interruption = (): (() => AbortSignal) => {
  let controller: AbortController | null = null;
  const interrupt = (): void => {
    if (controller?.signal.aborted) exit(130);
    controller?.abort();
  };
  return () => {
    if (controller === null) {
      controller = new AbortController();
      process.on('SIGINT', interrupt);
      process.on('SIGTERM', interrupt);
    }
    return controller.signal;
  };
};

/** Version of the nearest `package.json` above: from the sources and from `dist` alike. */
const versionOf = (): string => {
  for (const up of ['../..', '../../..']) {
    try {
      const path = fileURLToPath(new URL(`${up}/package.json`, import.meta.url));
      return String((JSON.parse(readFileSync(path, 'utf8')) as { version: unknown }).version);
    } catch {}
  }
  return 'unknown';
};

const createWorld = (): World => {
  const interrupted = interruption();
  const interactive = stdin.isTTY === true && stdout.isTTY === true;
  return {
    // An empty variable is one that is not set.
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
    home: homedir(),
    terminal: createTerminal({ out: stdout, err: stderr, interactive, now: () => Date.now() }),
    input: stdin,
    output: stdout,
    program: argv[1] ?? fileURLToPath(import.meta.url),
    version: versionOf(),
    now: () => Date.now(),
    get interrupted() {
      return interrupted();
    },
  };
};

const createProgram = (world: World): Command => {
  const program = new Command('natter')
    .description('Natter: the durable session runtime for chat agents')
    .version(world.version)
    .option('--url <url>', 'the gateway (or NATTER_URL)')
    .option('--token <token>', 'its token (better: NATTER_TOKEN, which other users cannot see)')
    .option('--token-file <file>', 'a file that has its token')
    .option('--config <file>', 'the configuration file (or NATTER_CONFIG)')
    .option('--data-dir <folder>', 'the data directory (or NATTER_DATA_DIR)')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(natter <command> --help tells more)')
    .exitOverride();
  for (const add of [
    upCommand,
    statusCommand,
    sessionsCommand,
    skillsCommand,
    gatewayCommand,
    sendCommand,
    approvalsCommand,
    checkpointCommand,
    compactCommand,
    memoryCommand,
    forkCommand,
    tailCommand,
    replayCommand,
    diffCommand,
    whyResetCommand,
    ingestCommand,
    doctorCommand,
    deadLettersCommand,
    auditCommand,
    exportCommand,
    eraseCommand,
    configCommand,
    tokenCommand,
    mcpCommand,
    natsCommand,
    serviceCommand,
    completionsCommand,
  ])
    add(program, world);
  return program;
};

/** 2: what was asked cannot be; 1: it could be, and failed. */
const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const code = error instanceof NatterError || error instanceof NatterApiError ? error.code : '';
  return code === 'invalid' ? 2 : 1;
};

// A reader that has seen enough (`natter tail | head`) is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => exit(error.code === 'EPIPE' ? 0 : 1));
const world = createWorld();
try {
  await createProgram(world).parseAsync(argv);
} catch (error) {
  // Commander has told its own errors already.
  if (!(error instanceof CommanderError)) world.terminal.note(`${pc.red('natter:')} ${explained(error)}`);
  if (env.NATTER_LOG_LEVEL === 'debug' && error instanceof Error) world.terminal.note(error.stack ?? '');
  process.exitCode = exitCodeOf(error);
}
