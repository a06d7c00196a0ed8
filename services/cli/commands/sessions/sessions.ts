import type { Command } from 'commander';
import type { SessionRow } from '../../../../shared/client/main.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { listCommand } from '../../list-command.ts';
import { showLines } from '../../pager.ts';
import { asJson, columnsOf, oneLine, table, type World } from '../../terminal.ts';
import { ago } from '../../time.ts';
import { addCleanup } from './cleanup.ts';

interface SessionsOptions extends CommonOptions {
  readonly active?: number;
  readonly json?: boolean;
}

/** Index rows as lines of a table of at most `columns`. A session is about what a person called it, if anybody did. */
export const sessionLines = (rows: readonly SessionRow[], now: number, columns: number): string[] =>
  table(
    ['KEY', 'STATUS', 'MESSAGES', 'TURNS', 'QUEUED', 'ACTIVE', 'ABOUT', 'LAST MESSAGE'],
    rows.map((row) => [
      oneLine(row.shownKey, limits.sessionKeyBytes),
      row.status,
      // A fork counts from itself on; what it goes on from is counted nowhere.
      `${row.messageCount}${row.lastReset?.trigger === 'fork' ? ' since fork' : ''}`,
      String(row.completedTurns),
      String(row.queuedTurns),
      ago(row.updatedAt, now),
      oneLine(`${row.settings.icon ?? ''} ${row.settings.displayName || row.description}`, 40),
      oneLine(row.lastMessagePreview, 48),
    ]),
    columns,
  );

/** `natter sessions [list|cleanup]` (A12/129). */
export const sessionsCommand = (program: Command, world: World): void => {
  const sessions = program.command('sessions').addHelpText('after', example('sessions --active 60'));
  listCommand(sessions, 'list sessions, newest activity first')
    .option('--active <minutes>', 'only sessions active in the last MINUTES', wholeNumber(1, 10_000_000))
    .option('--json', 'print JSON')
    .addHelpText('after', example('sessions list --active 60'))
    .action(async (_: unknown, command: Command) => {
      const { active, json, ...common } = command.optsWithGlobals<SessionsOptions>();
      const rows: SessionRow[] = [];
      for await (const row of clientOf(world, common).sessions.list({ activeMinutes: active })) rows.push(row);
      if (json) world.terminal.out(asJson({ sessions: rows }, 2));
      else if (rows.length === 0) world.terminal.note('no sessions; send a message: natter send agent:main:main "hello"');
      else await showLines(world, sessionLines(rows, world.now(), columnsOf(world)));
    });
  addCleanup(sessions, world);
};
