import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import pc from 'picocolors';
import type { Config } from '../../../../shared/domain/config/schema.ts';
import type { InboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import { createRoute } from '../../../../shared/domain/routing/route.ts';
import { messageOf as messageIn } from '../../../../shared/domain/session/commands.ts';
import { errorMessage, NatterError } from '../../../../shared/kit/errors.ts';
import { type CommonOptions, clientOf, configOf } from '../../access.ts';
import { example } from '../../example.ts';
import { type Conversation, type Fed, feed } from '../../ingest/feed.ts';
import { dayOf, readSource, type Source, type SourceOptions } from '../../ingest/source.ts';
import { replaySession } from '../../replay-session.ts';
import { asJson, oneLine, type World } from '../../terminal.ts';
import { duration } from '../../time.ts';

interface IngestOptions extends CommonOptions {
  readonly format: 'irc' | 'jsonl';
  readonly channel: string;
  readonly group: string;
  readonly mention?: string;
  readonly day?: string;
  readonly json?: boolean;
}

/** The report of `natter ingest`. */
interface Report {
  readonly file: string;
  readonly lines: number;
  readonly notices: number;
  readonly blank: number;
  readonly repairedUtf8: number;
  readonly messagesIn: number;
  readonly mentions: number;
  readonly sent: number;
  readonly alreadyStored: number;
  readonly stored: number;
  readonly turns: { readonly completed: number; readonly failed: number; readonly aborted: number; readonly open: number };
  readonly refused: Readonly<Record<string, number>>;
  readonly missing: number;
  readonly wallMs: number;
  readonly sessions: readonly { readonly key: string; readonly commits: number; readonly replayIdentical: boolean }[];
}

const count = (counts: Record<string, number>, reason: string, by = 1): void => {
  counts[reason] = (counts[reason] ?? 0) + by;
};

/**
 * Groups envelopes by session, with the router's own rules and in the order of the file. An envelope that would not become a message is
 * refused here, with the reason: chat commands in a log are not run.
 */
const conversationsOf = ({ envelopes }: Source, config: Config, refused: Record<string, number>): Conversation[] => {
  const route = createRoute(config);
  const byKey = new Map<string, InboundEnvelope[]>();
  for (const envelope of envelopes) {
    const routed = route(envelope, 0);
    if ('unroutable' in routed) count(refused, routed.unroutable);
    else if ('dropped' in routed) count(refused, routed.dropped);
    else if ('pairing' in routed) count(refused, 'needs pairing, which is for live messages');
    else if (messageIn(routed.command.data) === undefined) count(refused, 'is a chat command or has no message');
    else {
      const { key } = routed.command;
      const ofKey = byKey.get(key) ?? [];
      byKey.set(key, ofKey);
      ofKey.push({ ...envelope, agentId: envelope.agentId ?? config.agent.id });
    }
  }
  return [...byKey].map(([key, ofKey]) => ({ key, envelopes: ofKey }));
};

/** Reads the file, sends its messages, waits until all have taken effect, and replays every session that got one. */
const ingest = async (world: World, file: string, options: IngestOptions): Promise<Report> => {
  const startedAt = performance.now();
  const client = clientOf(world, options);
  const config = configOf(world, options);
  const day = options.day ?? dayOf(file);
  const { format, channel, group, mention } = options;
  const sourceOptions: SourceOptions = { format, channel, group, ...(mention && { mention }), ...(day && { day }) };
  const source = readSource(file, await readBytes(file), sourceOptions);

  const refused: Record<string, number> = {};
  for (const { reason } of source.refused) count(refused, reason);
  const conversations = conversationsOf(source, config, refused);
  const fed = await feed(client, conversations, (text) => world.terminal.progress(text));
  for (const { reason } of fed.refused) count(refused, reason);
  for (const outcome of fed.outcomes.values()) for (const [code, times] of outcome.refused) count(refused, code, times);

  const sessions: { key: string; commits: number; replayIdentical: boolean }[] = [];
  for (const { key } of conversations) {
    world.terminal.progress(`replaying ${key}`);
    const { commits, differences } = await replaySession(client, key);
    sessions.push({ key, commits, replayIdentical: differences.length === 0 });
  }
  world.terminal.settled();
  return {
    file,
    lines: source.lines,
    notices: source.notices,
    blank: source.blank,
    repairedUtf8: source.repaired,
    messagesIn: source.envelopes.length,
    mentions: source.envelopes.filter(({ mentioned }) => mentioned).length,
    sent: fed.sent,
    alreadyStored: fed.already,
    stored: [...fed.outcomes.values()].reduce((sum, { stored }) => sum + stored, 0),
    turns: turnsOf(fed),
    refused,
    missing: fed.missing,
    wallMs: Math.round(performance.now() - startedAt),
    sessions,
  };
};

const turnsOf = ({ outcomes }: Fed): Report['turns'] => {
  const sum = { completed: 0, failed: 0, aborted: 0, open: 0 };
  for (const outcome of outcomes.values())
    for (const [how, times] of Object.entries(outcome.turns())) sum[how as keyof typeof sum] += times;
  return sum;
};

const readBytes = async (file: string): Promise<Buffer> => {
  try {
    return await readFile(file);
  } catch (error) {
    throw new NatterError('invalid', `cannot read ${file}: ${errorMessage(error)}`);
  }
};

const show = ({ terminal }: World, report: Report): void => {
  const line = (name: string, text: string | number): void => terminal.out(`${name.padEnd(16)} ${text}`);
  line('lines', `${report.lines} (${report.notices} notices, ${report.blank} blank)`);
  if (report.repairedUtf8 > 0) line('repaired', `${report.repairedUtf8} lines were not valid UTF-8; bad bytes became U+FFFD`);
  line('messages in', `${report.messagesIn} (${report.mentions} mention the agent)`);
  if (report.alreadyStored > 0) line('already stored', report.alreadyStored);
  line('stored', report.stored);
  const { completed, failed, aborted, open } = report.turns;
  line(
    'turns run',
    `${completed + failed + aborted} (${completed} completed, ${failed} failed, ${aborted} aborted)${open > 0 ? `, ${open} still open` : ''}`,
  );
  const reasons = Object.entries(report.refused);
  line(
    'refused',
    reasons.reduce((sum, [, times]) => sum + times, 0),
  );
  for (const [reason, times] of reasons) terminal.out(`  ${times} × ${oneLine(reason, 120)}`);
  if (report.missing > 0) line('missing', pc.red(`${report.missing} messages or turns without progress for a minute`));
  line('wall time', duration(report.wallMs));
  for (const { key, commits, replayIdentical } of report.sessions)
    line('replay', `${key}: ${commits} commits, ${replayIdentical ? pc.green('identical') : pc.red('NOT identical')}`);
};

/** `natter ingest`: sends the messages of a chat log. Exit code 1 if something is missing or a replay is not identical. */
export const ingestCommand = (program: Command, world: World): void => {
  program
    .command('ingest')
    .argument('<file>', 'the log to read')
    .addOption(new Option('--format <format>', 'format of the file').choices(['irc', 'jsonl']).makeOptionMandatory())
    .requiredOption('--channel <name>', 'channel of the messages, such as irc')
    .requiredOption('--group <id>', 'id of the group, such as #ubuntu')
    .option('--mention <nick>', 'nick of the agent: lines that address it get an answer')
    .option('--day <YYYY-MM-DD>', "day of the log, if the file's name does not have it")
    .option('--json', 'print JSON')
    .addHelpText('after', example('ingest 2006-06-05.log --format irc --channel irc --group "#ubuntu" --mention ubotu'))
    .action(async (file: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<IngestOptions>();
      const report = await ingest(world, file, options);
      if (report.missing > 0 || report.sessions.some(({ replayIdentical }) => !replayIdentical)) process.exitCode = 1;
      if (options.json) world.terminal.out(asJson(report, 2));
      else show(world, report);
    });
};
