import type { Command } from 'commander';
import type { World } from '../terminal.ts';

type AddCommand = (program: Command, world: World) => void;
interface NamedCommand {
  /** What it does, in one line. */
  readonly line: string;
  readonly load: () => Promise<AddCommand>;
}
interface Group {
  readonly title: string;
  /** By their names. */
  readonly commands: Readonly<Record<string, NamedCommand>>;
}

/**
 * The commands in the groups and the order of `natter --help`, which shows each with its line. Each group is a folder of `commands/`. A command
 * is loaded when it is used: all of them take longer to load than most of them take to run.
 */
export const commandGroups: readonly Group[] = [
  {
    title: 'Run',
    commands: {
      up: {
        line: 'start the broker and every service; on a terminal, open a chat',
        load: async () => (await import('./run/up.ts')).upCommand,
      },
      open: {
        line: 'open the page in a browser, signed in',
        load: async () => (await import('./run/open.ts')).openCommand,
      },
      service: {
        line: 'run one service in this process, until SIGTERM',
        load: async () => (await import('./run/service.ts')).serviceCommand,
      },
    },
  },
  {
    title: 'Talk',
    commands: {
      chat: {
        line: 'open a chat on this terminal',
        load: async () => (await import('./talk/chat.ts')).chatCommand,
      },
      send: {
        line: 'send a message to a session',
        load: async () => (await import('./talk/send.ts')).sendCommand,
      },
      scheduled: {
        line: 'list scheduled messages; cancel one',
        load: async () => (await import('./talk/scheduled.ts')).scheduledCommand,
      },
      ingest: {
        line: 'send a chat log as group messages; running it again changes nothing',
        load: async () => (await import('./talk/ingest.ts')).ingestCommand,
      },
      gateway: {
        line: 'call methods of the gateway',
        load: async () => (await import('./talk/gateway.ts')).gatewayCommand,
      },
      mcp: {
        line: 'serve Natter to clients of the Model Context Protocol',
        load: async () => (await import('./talk/mcp.ts')).mcpCommand,
      },
    },
  },
  {
    title: 'Sessions',
    commands: {
      sessions: {
        line: 'list sessions, newest activity first; delete those that are due',
        load: async () => (await import('./sessions/sessions.ts')).sessionsCommand,
      },
      tail: {
        line: 'print events as they are recorded, until Ctrl-C',
        load: async () => (await import('./sessions/tail.ts')).tailCommand,
      },
      inspect: {
        line: 'show the state transitions of a session: idle, running, awaiting_approval, inactive',
        load: async () => (await import('./sessions/inspect.ts')).inspectCommand,
      },
      replay: {
        line: "rebuild a session from its log and compare it with the server's state; executes nothing",
        load: async () => (await import('./sessions/replay.ts')).replayCommand,
      },
      diff: {
        line: 'show what changed in a session between two places in its log',
        load: async () => (await import('./sessions/diff.ts')).diffCommand,
      },
      'why-reset': {
        line: 'explain each reset of a session, and when the next one is due',
        load: async () => (await import('./sessions/why-reset.ts')).whyResetCommand,
      },
      fork: {
        line: 'let a session go on from an earlier moment, under the same key; its history is kept',
        load: async () => (await import('./sessions/fork.ts')).forkCommand,
      },
      share: {
        line: 'make a link with which anybody can read one session on the page, and nothing else',
        load: async () => (await import('./sessions/share.ts')).shareCommand,
      },
      repair: {
        line: "show which parts of a session's history are lost, and with --reason record the decision to go on without them",
        load: async () => (await import('./sessions/repair.ts')).repairCommand,
      },
      checkpoint: {
        line: 'have a model read what was said since the last checkpoint, and update the memory',
        load: async () => (await import('./sessions/checkpoint.ts')).checkpointCommand,
      },
      compact: {
        line: "summarise the conversation so far, to make room in the model's context window",
        load: async () => (await import('./sessions/compact.ts')).compactCommand,
      },
      export: {
        line: 'write transcripts as JSON Lines',
        load: async () => (await import('./sessions/export.ts')).exportCommand,
      },
      verify: {
        line: 'check that an export is complete and unchanged; needs no server',
        load: async () => (await import('./sessions/verify.ts')).verifyCommand,
      },
      erase: {
        line: 'remove everything said in a session, permanently; the log keeps the fact that it was erased',
        load: async () => (await import('./sessions/erase.ts')).eraseCommand,
      },
    },
  },
  {
    title: 'Approvals & memory',
    commands: {
      approvals: {
        line: 'list tool calls that await approval, and answer them',
        load: async () => (await import('./approvals-and-memory/approvals.ts')).approvalsCommand,
      },
      memory: {
        line: 'list, search and change what agents remember across sessions',
        load: async () => (await import('./approvals-and-memory/memory.ts')).memoryCommand,
      },
    },
  },
  {
    title: 'Skills',
    commands: {
      skills: {
        line: 'list, install and publish the skills of the agent',
        load: async () => (await import('./skills/skills.ts')).skillsCommand,
      },
    },
  },
  {
    title: 'Operate',
    commands: {
      status: {
        line: 'show health, queues, pending approvals and recent sessions',
        load: async () => (await import('./operate/status.ts')).statusCommand,
      },
      doctor: {
        line: 'check the installation and suggest a fix for each problem',
        load: async () => (await import('./operate/doctor.ts')).doctorCommand,
      },
      pairing: {
        line: 'list strangers who ask to write direct messages; approve or deny them',
        load: async () => (await import('./operate/pairing.ts')).pairingCommand,
      },
      audit: {
        line: 'show the audit trail: who did or tried what, newest last',
        load: async () => (await import('./operate/audit.ts')).auditCommand,
      },
      'dead-letters': {
        line: 'list messages that could not be processed; show, resend or discard one',
        load: async () => (await import('./operate/dead-letters.ts')).deadLettersCommand,
      },
      deliveries: {
        line: 'list outgoing messages that wait or may not have arrived; show, repeat or leave one, resume an account',
        load: async () => (await import('./operate/deliveries.ts')).deliveriesCommand,
      },
      log: {
        line: 'decide about an event log, or a queue, that has lost its end; needs the broker',
        load: async () => (await import('./operate/log.ts')).logCommand,
      },
      backup: {
        line: 'back up sessions, queues, memory, tokens and the audit trail, while everything runs',
        load: async () => (await import('./operate/backup.ts')).backupCommand,
      },
      restore: {
        line: 'restore a backup into an empty broker, with all services stopped',
        load: async () => (await import('./operate/restore.ts')).restoreCommand,
      },
    },
  },
  {
    title: 'Set up',
    commands: {
      init: {
        line: 'find a model provider, try it, and write the configuration; without a terminal the options decide',
        load: async () => (await import('./setup/init.ts')).initCommand,
      },
      config: {
        line: 'check, describe and print the configuration',
        load: async () => (await import('./setup/config.ts')).configCommand,
      },
      token: {
        line: 'list, create, rotate and revoke access tokens',
        load: async () => (await import('./setup/token.ts')).tokenCommand,
      },
      nats: {
        line: 'install, provision and repair the broker, nats-server',
        load: async () => (await import('./setup/nats.ts')).natsCommand,
      },
      broker: {
        line: 'print and check the users of the broker and their rights',
        load: async () => (await import('./setup/broker.ts')).brokerCommand,
      },
      completions: {
        line: 'print a script for shell completion of commands, options, session keys and approvals',
        load: async () => (await import('./setup/completions.ts')).completionsCommand,
      },
    },
  },
];
