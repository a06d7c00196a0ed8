import { Command } from 'commander';
import { example } from '../example.ts';
import type { World } from '../terminal.ts';

type AddCommand = (program: Command, world: World) => void;
interface Group {
  readonly title: string;
  /** By their names. */
  readonly commands: Readonly<Record<string, () => Promise<AddCommand>>>;
}

/**
 * The commands in the groups and the order of `natter --help`. Each group is a folder of `commands/`. A command is loaded when it is used:
 * all of them take longer to load than most of them take to run.
 */
const groups: readonly Group[] = [
  {
    title: 'Run',
    commands: {
      up: async () => (await import('./run/up.ts')).upCommand,
      open: async () => (await import('./run/open.ts')).openCommand,
      service: async () => (await import('./run/service.ts')).serviceCommand,
    },
  },
  {
    title: 'Talk',
    commands: {
      send: async () => (await import('./talk/send.ts')).sendCommand,
      ingest: async () => (await import('./talk/ingest.ts')).ingestCommand,
      gateway: async () => (await import('./talk/gateway.ts')).gatewayCommand,
      mcp: async () => (await import('./talk/mcp.ts')).mcpCommand,
    },
  },
  {
    title: 'Sessions',
    commands: {
      sessions: async () => (await import('./sessions/sessions.ts')).sessionsCommand,
      tail: async () => (await import('./sessions/tail.ts')).tailCommand,
      inspect: async () => (await import('./sessions/inspect.ts')).inspectCommand,
      replay: async () => (await import('./sessions/replay.ts')).replayCommand,
      diff: async () => (await import('./sessions/diff.ts')).diffCommand,
      'why-reset': async () => (await import('./sessions/why-reset.ts')).whyResetCommand,
      fork: async () => (await import('./sessions/fork.ts')).forkCommand,
      repair: async () => (await import('./sessions/repair.ts')).repairCommand,
      checkpoint: async () => (await import('./sessions/checkpoint.ts')).checkpointCommand,
      compact: async () => (await import('./sessions/compact.ts')).compactCommand,
      export: async () => (await import('./sessions/export.ts')).exportCommand,
      verify: async () => (await import('./sessions/verify.ts')).verifyCommand,
      erase: async () => (await import('./sessions/erase.ts')).eraseCommand,
    },
  },
  {
    title: 'Approvals & memory',
    commands: {
      approvals: async () => (await import('./approvals-and-memory/approvals.ts')).approvalsCommand,
      memory: async () => (await import('./approvals-and-memory/memory.ts')).memoryCommand,
    },
  },
  {
    title: 'Skills',
    commands: {
      skills: async () => (await import('./skills/skills.ts')).skillsCommand,
    },
  },
  {
    title: 'Operate',
    commands: {
      status: async () => (await import('./operate/status.ts')).statusCommand,
      doctor: async () => (await import('./operate/doctor.ts')).doctorCommand,
      pairing: async () => (await import('./operate/pairing.ts')).pairingCommand,
      audit: async () => (await import('./operate/audit.ts')).auditCommand,
      'dead-letters': async () => (await import('./operate/dead-letters.ts')).deadLettersCommand,
      deliveries: async () => (await import('./operate/deliveries.ts')).deliveriesCommand,
      log: async () => (await import('./operate/log.ts')).logCommand,
      backup: async () => (await import('./operate/backup.ts')).backupCommand,
      restore: async () => (await import('./operate/restore.ts')).restoreCommand,
    },
  },
  {
    title: 'Set up',
    commands: {
      init: async () => (await import('./setup/init.ts')).initCommand,
      config: async () => (await import('./setup/config.ts')).configCommand,
      token: async () => (await import('./setup/token.ts')).tokenCommand,
      nats: async () => (await import('./setup/nats.ts')).natsCommand,
      broker: async () => (await import('./setup/broker.ts')).brokerCommand,
      completions: async () => (await import('./setup/completions.ts')).completionsCommand,
    },
  },
];

/**
 * The command line, with the command that `args` name. For anything else, such as help, completions and misspelt commands, and without `args`,
 * with all commands. `CommanderError` is thrown where commander would end the process.
 */
export const createProgram = async (world: World, args: readonly string[] = []): Promise<Command> => {
  const program = new Command('natter')
    .description('Natter: the durable session runtime for chat agents')
    .version(world.version)
    .option('--url <url>', 'address of the gateway (or NATTER_URL)')
    .option('--token <token>', 'token for the gateway (safer: NATTER_TOKEN, which other users cannot see)')
    .option('--token-file <file>', 'file with the token for the gateway')
    .option('--config <file>', 'configuration file (or NATTER_CONFIG)')
    .option('--data-dir <folder>', 'data directory (or NATTER_DATA_DIR)')
    .option('--utc', 'print times in UTC instead of the local time zone')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(run "natter <command> --help" for usage)')
    .addHelpText('after', example('up'))
    .exitOverride();
  const [named = ''] = program.parseOptions([...args]).operands;
  const isAlone = named !== 'completions' && groups.some(({ commands }) => Object.hasOwn(commands, named));
  for (const { title, commands } of groups) {
    program.commandsGroup(`${title}:`);
    for (const [name, load] of Object.entries(commands)) if (!isAlone || name === named) (await load())(program, world);
  }
  return program.helpCommand('help [command]', 'display help for command');
};
