import type { Command } from 'commander';
import pc from 'picocolors';
import type { NatterClient } from '../../../shared/client/main.ts';
import { localTime, type NextReset } from '../../../shared/domain/reset/reset.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf } from '../../../shared/domain/session/events.ts';
import type { ResetCause } from '../../../shared/domain/values/expiry.ts';
import { type CommonOptions, clientOf } from '../access.ts';
import { commitsOf } from '../commits.ts';
import { asJson, oneLine, type World } from '../terminal.ts';

/** One reset of a session. `why` says the cause in words; `cause` is as recorded, absent in what older versions wrote. Times in ms. */
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

/** The resets of a session, oldest first, and what ends it next. */
interface ResetHistory {
  readonly key: string;
  readonly timeZone: string;
  readonly resets: readonly PastReset[];
  readonly next: NextReset;
}

/** Reads from the log why a session was reset. When it is next the gateway says, whose rules are in force (A1/1, A4/43–57). */
const resetHistory = async (client: NatterClient, name: string): Promise<ResetHistory> => {
  const { key, nextReset } = await client.sessions.get(name, { patienceMs: 10_000 });
  const { timeZone, ...next } = nextReset;
  const resets: PastReset[] = [];
  for await (const commit of commitsOf(client, key)) {
    for (const event of commit.events) if (event.type === 'session_reset') resets.push(explained(event, commit, timeZone));
  }
  return { key, timeZone, resets, next };
};

const explained = (event: EventOf<'session_reset'>, { seq, at, actor }: RecordedCommit, zone: string): PastReset => {
  const { generation, previousSessionId, sessionId, cause } = event;
  const why = cause ? inWords(cause, actor, zone) : event.reason;
  return { seq, at, generation, previousSessionId, sessionId, actor, ...(cause && { cause }), why };
};

const inWords = ({ trigger, rule, boundaryAt, lastUpdateAt }: ResetCause, actor: string, zone: string): string => {
  const used = lastUpdateAt === undefined ? '' : `, last used ${localTime(lastUpdateAt, zone)}`;
  const boundary = boundaryAt === undefined ? '' : ` of ${localTime(boundaryAt, zone)}`;
  switch (trigger) {
    case 'daily':
      return `the daily reset${boundary} (${rule})${used}`;
    case 'idle':
      return `the end of the idle window${boundary} (${rule})${used}`;
    case 'isolated':
      return `every message begins a new session here (${rule})`;
    case 'command':
      return `${actor} wrote ${rule}${used}`;
    case 'fork':
      return `${actor} forked it ${rule}${used}`;
    case 'api':
      return `${actor} asked for it (${rule})${used}`;
  }
};

/** When the session ends next, in words. */
const nextInWords = ({ next, timeZone }: ResetHistory): string => {
  const { rule, dailyAt, idleAt, due } = next;
  const daily = dailyAt === undefined ? [] : [`${localTime(dailyAt, timeZone)} (daily)`];
  const idle = idleAt === undefined ? [] : [`${localTime(idleAt, timeZone)} (idle)`];
  if (daily.length + idle.length === 0) return `with every message: ${rule}`;
  return `${due ? 'due with the next message, since' : 'with the first message after'} ${[...daily, ...idle].join(' or ')}; ${rule}`;
};

/** `natter why-reset`: each reset with its rule, boundary and last update, and the next one to expect. */
export const whyResetCommand = (program: Command, world: World): void => {
  program
    .command('why-reset')
    .argument('<key>', 'the session')
    .description('explain each reset of a session, and when the next one is due')
    .option('--json', 'as JSON')
    .action(async (key: string, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const history = await resetHistory(clientOf(world, common), key);
      if (json) return world.terminal.out(asJson(history, 2));
      const { out } = world.terminal;
      out(pc.bold(oneLine(history.key, 256)));
      for (const { seq, at, generation, why } of history.resets)
        out(`${localTime(at, history.timeZone)}  ${pc.dim(`seq ${seq}`)}  generation ${generation}: ${oneLine(why, 400)}`);
      if (history.resets.length === 0) out('never reset');
      out(`next: ${nextInWords(history)}`);
    });
};
