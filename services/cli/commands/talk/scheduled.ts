import type { Command } from 'commander';
import type { ScheduledMessage, ScheduledMessages } from '../../../../shared/client/main.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { example } from '../../example.ts';
import { listCommand } from '../../list-command.ts';
import { showLines } from '../../pager.ts';
import { asJson, oneLine, table, type World } from '../../terminal.ts';
import { timeText, zoneOf } from '../../time.ts';

interface ScheduledOptions extends CommonOptions {
  readonly key?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `natter scheduled [list|cancel]`: messages of `natter send --at`. */
export const scheduledCommand = (program: Command, world: World): void => {
  const { terminal } = world;
  const scheduled = program.command('scheduled').addHelpText('after', example('scheduled --key agent:main:main'));
  listCommand(scheduled, 'list scheduled messages, the next first')
    .option('--key <key>', 'only of this session')
    .option('--limit <count>', 'maximum number of messages', wholeNumber(1, limits.pageRows), 50)
    .option('--json', 'print JSON')
    .addHelpText('after', example('scheduled list --limit 10'))
    .action(async (_: unknown, command: Command) => {
      const { key, limit, json, ...common } = command.optsWithGlobals<ScheduledOptions>();
      const found = await clientOf(world, common).get<ScheduledMessages>('/v1/scheduled-messages', { query: { key, limit } });
      if (json) return terminal.out(asJson(found, 2));
      if (found.messages.length === 0) terminal.note('no messages are scheduled');
      else await showLines(world, linesOf(found.messages, zoneOf(world, common)));
      if (!found.complete) terminal.note('there may be more; use --key or a larger --limit');
    });
  scheduled
    .command('cancel')
    .argument('<id>', 'id of the message, from the list')
    .description('cancel a scheduled message')
    .option('--json', 'print JSON')
    .addHelpText('after', example('scheduled cancel once-m7Wr9cFOC-vOV9onPa50KB3YfI-ahlpfDCm1zyHUUI0'))
    .action(async (id: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<ScheduledOptions>();
      const path = `/v1/scheduled-messages/${encodeURIComponent(id)}`;
      const cancelled = await clientOf(world, common).delete<ScheduledMessage>(path);
      terminal.out(json ? asJson(cancelled, 2) : `${oneLine(cancelled.runId, 255)}: cancelled`);
    });
};

const linesOf = (messages: readonly ScheduledMessage[], zone: string): string[] =>
  table(
    ['ID', 'TIME', 'SESSION', 'TEXT'],
    messages.map(({ runId, sendAt, sessionKey, command, text }) => [
      ...[
        oneLine(runId, 255),
        timeText(sendAt, zone),
        oneLine(sessionKey, limits.sessionKeyBytes),
        oneLine(text ?? `(${command})`, 80),
      ],
    ]),
  );
