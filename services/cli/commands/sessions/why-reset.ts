import type { Command } from 'commander';
import pc from 'picocolors';
import type { NatterClient } from '../../../../shared/client/main.ts';
import type { NextReset } from '../../../../shared/domain/reset/reset.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../../../shared/domain/session/events.ts';
import type { ResetCause } from '../../../../shared/domain/values/expiry.ts';
import { type CommonOptions, clientOf } from '../../access.ts';
import { commitsOf } from '../../commits.ts';
import { example } from '../../example.ts';
import { asJson, oneLine, type World } from '../../terminal.ts';
import { timeText } from '../../time.ts';

/** One reset of a session. `why` is the cause in words; `cause` is as recorded, absent in commits of older versions. Times in ms. */
interface PastReset {
  readonly seq: number;
  readonly at: number;
  readonly generation: number;
  readonly previousSessionId: string;
  readonly sessionId: string;
  readonly actor: string;
  readonly cause?: ResetCause;
  readonly why: string;
}

/** The resets of a session, oldest first, and the next one to expect. */
interface ResetHistory {
  readonly key: string;
  readonly timeZone: string;
  readonly resets: readonly PastReset[];
  readonly next: NextReset;
}

/** Reads past resets from the log. The next one comes from the gateway, whose rules are in force (A1/1, A4/43–57). */
const resetHistory = async (client: NatterClient, name: string, utc: boolean): Promise<ResetHistory> => {
  const { key, nextReset } = await client.sessions.get(name, { patienceMs: 10_000 });
  const { timeZone, ...next } = nextReset;
  const zone = utc ? 'UTC' : timeZone;
  const resets: PastReset[] = [];
  for await (const commit of commitsOf(client, key)) {
    for (const event of commit.events) if (event.type === 'session_reset') resets.push(explained(event, commit, zone));
  }
  return { key, timeZone, resets, next };
};

const explained = (event: EventOf<'session_reset'>, { seq, at, actor }: RecordedCommit, zone: string): PastReset => {
  const { generation, previousSessionId, sessionId, cause } = event;
  const why = cause ? inWords(cause, actor, zone) : event.reason;
  return { seq, at, generation, previousSessionId, sessionId, actor, ...(cause && { cause }), why };
};

const inWords = ({ trigger, rule, boundaryAt, lastUpdateAt }: ResetCause, actor: string, zone: string): string => {
  const used = lastUpdateAt === undefined ? '' : `, last used ${timeText(lastUpdateAt, zone)}`;
  const boundary = boundaryAt === undefined ? '' : ` of ${timeText(boundaryAt, zone)}`;
  switch (trigger) {
    case 'daily':
      return `the daily reset${boundary} (${rule})${used}`;
    case 'idle':
      return `the end of the idle window${boundary} (${rule})${used}`;
    case 'isolated':
      return `every message starts a new session (${rule})`;
    case 'command':
      return `${actor} wrote ${rule}${used}`;
    case 'fork':
      return `${actor} forked it (${rule})${used}`;
    case 'api':
      return `${actor} asked for it (${rule})${used}`;
  }
};

/** When the session is reset next, in words. */
const nextInWords = ({ next }: ResetHistory, zone: string): string => {
  const { rule, dailyAt, idleAt, due } = next;
  const daily = dailyAt === undefined ? [] : [`${timeText(dailyAt, zone)} (daily)`];
  const idle = idleAt === undefined ? [] : [`${timeText(idleAt, zone)} (idle)`];
  if (daily.length + idle.length === 0) return `with every message: ${rule}`;
  return `${due ? 'due with the next message, since' : 'with the first message after'} ${[...daily, ...idle].join(' or ')}; ${rule}`;
};

/** `natter why-reset`: each reset with its rule, boundary and last update, and the next one to expect. Times are in the zone of the rules. */
export const whyResetCommand = (program: Command, world: World): void => {
  program
    .command('why-reset')
    .argument('<key>', 'session key, such as agent:main:main')
    .option('--json', 'print JSON')
    .addHelpText('after', example('why-reset agent:main:main'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const utc = common.utc === true && !json;
      const history = await resetHistory(clientOf(world, common), key, utc);
      if (json) return world.terminal.out(asJson(history, 2));
      const { out } = world.terminal;
      const zone = utc ? 'UTC' : history.timeZone;
      out(pc.bold(oneLine(history.key, 256)));
      for (const { seq, at, generation, why } of history.resets)
        out(`${timeText(at, zone)}  ${pc.dim(`seq ${seq}`)}  generation ${generation}: ${oneLine(why, 400)}`);
      if (history.resets.length === 0) out('never reset');
      out(`next: ${nextInWords(history, zone)}`);
    });
};
