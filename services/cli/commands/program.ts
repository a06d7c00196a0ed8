import { Command } from 'commander';
import { example } from '../example.ts';
import type { World } from '../terminal.ts';
import { approvalsCommand } from './approvals-and-memory/approvals.ts';
import { memoryCommand } from './approvals-and-memory/memory.ts';
import { auditCommand } from './operate/audit.ts';
import { backupCommand } from './operate/backup.ts';
import { deadLettersCommand } from './operate/dead-letters.ts';
import { deliveriesCommand } from './operate/deliveries.ts';
import { doctorCommand } from './operate/doctor.ts';
import { logCommand } from './operate/log.ts';
import { restoreCommand } from './operate/restore.ts';
import { statusCommand } from './operate/status.ts';
import { serviceCommand } from './run/service.ts';
import { upCommand } from './run/up.ts';
import { checkpointCommand } from './sessions/checkpoint.ts';
import { compactCommand } from './sessions/compact.ts';
import { diffCommand } from './sessions/diff.ts';
import { eraseCommand } from './sessions/erase.ts';
import { exportCommand } from './sessions/export.ts';
import { forkCommand } from './sessions/fork.ts';
import { inspectCommand } from './sessions/inspect.ts';
import { repairCommand } from './sessions/repair.ts';
import { replayCommand } from './sessions/replay.ts';
import { sessionsCommand } from './sessions/sessions.ts';
import { tailCommand } from './sessions/tail.ts';
import { verifyCommand } from './sessions/verify.ts';
import { whyResetCommand } from './sessions/why-reset.ts';
import { brokerCommand } from './setup/broker.ts';
import { completionsCommand } from './setup/completions.ts';
import { configCommand } from './setup/config.ts';
import { natsCommand } from './setup/nats.ts';
import { tokenCommand } from './setup/token.ts';
import { skillsCommand } from './skills/skills.ts';
import { gatewayCommand } from './talk/gateway.ts';
import { ingestCommand } from './talk/ingest.ts';
import { mcpCommand } from './talk/mcp.ts';
import { sendCommand } from './talk/send.ts';

/** The commands in the groups and the order of `natter --help`. Each group is a folder of `commands/`. */
const groups = [
  { title: 'Run', commands: [upCommand, serviceCommand] },
  { title: 'Talk', commands: [sendCommand, ingestCommand, gatewayCommand, mcpCommand] },
  {
    title: 'Sessions',
    commands: [
      ...[sessionsCommand, tailCommand, inspectCommand, replayCommand, diffCommand, whyResetCommand],
      ...[forkCommand, repairCommand, checkpointCommand, compactCommand, exportCommand, verifyCommand, eraseCommand],
    ],
  },
  { title: 'Approvals & memory', commands: [approvalsCommand, memoryCommand] },
  { title: 'Skills', commands: [skillsCommand] },
  {
    title: 'Operate',
    commands: [
      ...[statusCommand, doctorCommand, auditCommand, deadLettersCommand, deliveriesCommand, logCommand],
      backupCommand,
      restoreCommand,
    ],
  },
  { title: 'Set up', commands: [configCommand, tokenCommand, natsCommand, brokerCommand, completionsCommand] },
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
