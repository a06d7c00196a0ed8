import { pino } from 'pino';
import { vi } from 'vitest';
import { startSession } from '../../../services/session/main.ts';
import { type Config, configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { sessionIdsOf } from '../../../shared/domain/projections/session-ids.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import type { TestServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';

/** A session host on a broker, under a prefix of its own. */
export const openStage = async (server: TestServer, prefix: string, { partitions = 1, more = {} } = {}) => {
  const config: Config = configSchema.parse({ ...more, prefix, nats: { partitions } });
  await provisionFor(server, { prefix, partitions });
  const opened = portsOn(server, config);
  const ports = await opened.as('tester');
  const log = pino({ level: 'silent' });
  const host = await startSession({ config, ports: await opened.as('session'), log, member: 'host', env: {} });

  return {
    config,
    ports,
    open: opened.as,
    log,
    send: async (key: string, data: SessionCommand, id: string): Promise<string | undefined> => {
      const answer = ports.answers.wait(id, 20_000);
      const envelope = { id, key: key as SessionKey, at: Date.now(), correlationId: id, causationId: id, actor: 'test' };
      await ports.commands.publish({ ...envelope, answerTo: ports.answers.address, data });
      return (await answer)?.outcome;
    },
    commits: async (): Promise<RecordedCommit[]> => {
      const commits: RecordedCommit[] = [];
      for (let more = true; more; ) {
        const page = await ports.events.page({ after: commits.at(-1)?.seq ?? 0, limit: 1_000 });
        commits.push(...page.commits);
        more = page.more;
      }
      return commits;
    },
    close: async (): Promise<void> => {
      await host.stop(2_000);
      await opened.close();
    },
  };
};
export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Every request that was recorded is done with. */
export const lookedBackOnAll = ({ ports, commits }: Stage, timeout = 60_000): Promise<void> =>
  vi.waitFor(
    async () => {
      const requested = (await commits()).filter(({ events }) => events.some(({ type }) => type === 'checkpoint_requested'));
      if ((await ports.cursors.get('checkpoint-requests')).seq < (requested.at(-1)?.seq ?? 0)) throw new Error('not dispatched');
      if ((await ports.checkpoints.lag()) > 0) throw new Error('not done');
    },
    { timeout, interval: 100 },
  );

interface Range {
  readonly from: number;
  readonly to: number;
}
/** What was introspected of each generation of each session, in the order of the log. */
const rangesIn = (commits: readonly RecordedCommit[]): Map<string, Range[]> => {
  const ranges = new Map<string, Range[]>();
  for (const { key, events } of commits) {
    for (const event of events) {
      if (event.type !== 'introspected') continue;
      const name = `${key} ${event.sessionId}`;
      ranges.set(name, [...(ranges.get(name) ?? []), { from: event.fromRev, to: event.toRev }]);
    }
  }
  return ranges;
};

/** Where two ranges of a generation do not join: a gap, or something twice. */
export const faultsIn = (commits: readonly RecordedCommit[]): string[] =>
  [...rangesIn(commits)].flatMap(([name, ranges]) =>
    ranges.flatMap(({ from }, index) => {
      const before = ranges[index - 1];
      return before === undefined || from === before.to + 1 ? [] : [`${name}: ${from} after ${before.to}`];
    }),
  );

/** How often what was said was introspected: the texts of messages by that number. */
export const coverageOf = (commits: readonly RecordedCommit[]): Map<number, string[]> => {
  const ranges = rangesIn(commits);
  const coverage = new Map<number, string[]>();
  for (const commit of commits) {
    const sessionIds = sessionIdsOf(commit);
    for (const [index, event] of commit.events.entries()) {
      const text = saidIn(event);
      if (text === undefined) continue;
      const covering = (ranges.get(`${commit.key} ${sessionIds[index]}`) ?? []).filter(
        ({ from, to }) => from <= commit.rev && commit.rev <= to,
      );
      coverage.set(covering.length, [...(coverage.get(covering.length) ?? []), `${commit.key} ${commit.rev} ${text}`]);
    }
  }
  return coverage;
};
const saidIn = (event: SessionEvent): string | undefined =>
  event.type === 'user_message' ? event.message.text : event.type === 'assistant_message' ? event.text : undefined;
