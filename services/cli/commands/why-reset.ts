import type { Command } from 'commander';
import pc from 'picocolors';
import type { Config } from '../../../shared/config/schema.ts';
import { localTime, type NextReset, nextReset } from '../../../shared/policy/reset.ts';
import { channelOf, parseKey, resetTypeOf } from '../../../shared/routing/session-key.ts';
import type { EventOf } from '../../../shared/session/events.ts';
import type { ResetCause } from '../../../shared/session/expiry.ts';
import type { IndexRow } from '../../../shared/session/summary.ts';
import type { RecordedCommit } from '../../../shared/wire/envelope.ts';
import { type CommonOptions, clientOf, configOf } from '../access.ts';
import { type ApiClient, sessionPath } from '../api-client.ts';
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

/** The resets of a session, oldest first, and what ends it next: `null` if every message does (isolated cron jobs, A4/57). */
interface ResetHistory {
  readonly key: string;
  readonly timeZone: string;
  readonly resets: readonly PastReset[];
  readonly next: NextReset | null;
}

/** Reads from the log why a session was reset, and works out when it is next (A4/43–57). `now` in ms. */
const resetHistory = async (client: ApiClient, key: string, config: Config, now: number): Promise<ResetHistory> => {
  const { session } = config;
  const timeZone = session.timeZone ?? 'UTC';
  const row = await client.get<IndexRow>(sessionPath(key), { patienceMs: 10_000 });
  const resets: PastReset[] = [];
  for await (const commit of commitsOf(client, key)) {
    for (const event of commit.events) if (event.type === 'session_reset') resets.push(explained(event, commit, timeZone));
  }
  const parsed = parseKey(row.key, session.mainKey);
  const place = { type: resetTypeOf(parsed), channel: channelOf(parsed, row) };
  const next = parsed.kind === 'cron' ? null : nextReset(session, place, row.interactedAt, now);
  return { key: row.key, timeZone, resets, next };
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
    case 'api':
      return `${actor} asked for it (${rule})${used}`;
  }
};

/** When the session ends next, in words. */
const nextInWords = ({ next, timeZone }: ResetHistory): string => {
  if (next === null) return 'with every message: isolated cron job';
  const { rule, dailyAt, idleAt, due } = next;
  const daily = dailyAt === undefined ? [] : [`${localTime(dailyAt, timeZone)} (daily)`];
  const idle = idleAt === undefined ? [] : [`${localTime(idleAt, timeZone)} (idle)`];
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
      const history = await resetHistory(clientOf(world, common), key, configOf(world, common), world.now());
      if (json) return world.terminal.out(asJson(history, 2));
      const { out } = world.terminal;
      out(pc.bold(oneLine(history.key, 256)));
      for (const { seq, at, generation, why } of history.resets)
        out(`${localTime(at, history.timeZone)}  ${pc.dim(`seq ${seq}`)}  generation ${generation}: ${oneLine(why, 400)}`);
      if (history.resets.length === 0) out('never reset');
      out(`next: ${nextInWords(history)}`);
    });
};
