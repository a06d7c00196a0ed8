import { Command } from 'commander';
import { approvalsCommand } from './commands/approvals-and-memory/approvals.ts';
import { memoryCommand } from './commands/approvals-and-memory/memory.ts';
import { auditCommand } from './commands/operate/audit.ts';
import { deadLettersCommand } from './commands/operate/dead-letters.ts';
import { doctorCommand } from './commands/operate/doctor.ts';
import { statusCommand } from './commands/operate/status.ts';
import { serviceCommand } from './commands/run/service.ts';
import { upCommand } from './commands/run/up.ts';
import { checkpointCommand } from './commands/sessions/checkpoint.ts';
import { compactCommand } from './commands/sessions/compact.ts';
import { diffCommand } from './commands/sessions/diff.ts';
import { eraseCommand } from './commands/sessions/erase.ts';
import { exportCommand } from './commands/sessions/export.ts';
import { forkCommand } from './commands/sessions/fork.ts';
import { inspectCommand } from './commands/sessions/inspect.ts';
import { replayCommand } from './commands/sessions/replay.ts';
import { sessionsCommand } from './commands/sessions/sessions.ts';
import { tailCommand } from './commands/sessions/tail.ts';
import { whyResetCommand } from './commands/sessions/why-reset.ts';
import { completionsCommand } from './commands/setup/completions.ts';
import { configCommand } from './commands/setup/config.ts';
import { natsCommand } from './commands/setup/nats.ts';
import { tokenCommand } from './commands/setup/token.ts';
import { skillsCommand } from './commands/skills/skills.ts';
import { gatewayCommand } from './commands/talk/gateway.ts';
import { ingestCommand } from './commands/talk/ingest.ts';
import { mcpCommand } from './commands/talk/mcp.ts';
import { sendCommand } from './commands/talk/send.ts';
import { example } from './example.ts';
import type { World } from './terminal.ts';

/** The commands in the groups and the order of `natter --help`. Each group is a folder of `commands/`. */
const groups = [
  { title: 'Run', commands: [upCommand, serviceCommand] },
  { title: 'Talk', commands: [sendCommand, ingestCommand, gatewayCommand, mcpCommand] },
  {
    title: 'Sessions',
    commands: [
      ...[sessionsCommand, tailCommand, inspectCommand, replayCommand, diffCommand, whyResetCommand],
      ...[forkCommand, checkpointCommand, compactCommand, exportCommand, eraseCommand],
    ],
  },
  { title: 'Approvals & memory', commands: [approvalsCommand, memoryCommand] },
  { title: 'Skills', commands: [skillsCommand] },
  { title: 'Operate', commands: [statusCommand, doctorCommand, auditCommand, deadLettersCommand] },
  { title: 'Set up', commands: [configCommand, tokenCommand, natsCommand, completionsCommand] },
];

/** The whole command line. `CommanderError` is thrown where commander would end the process. */
export const createProgram = (world: World): Command => {
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
  for (const { title, commands } of groups) {
    program.commandsGroup(`${title}:`);
    for (const add of commands) add(program, world);
  }
  return program.helpCommand('help [command]', 'display help for command');
};
