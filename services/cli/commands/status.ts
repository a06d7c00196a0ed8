import type { Command } from 'commander';
import pc from 'picocolors';
import { NatterApiError, type NatterClient, type PendingApproval } from '../../../shared/client/main.ts';
import type { IndexRow } from '../../../shared/domain/projections/summary.ts';
import { type CommonOptions, clientOf, explained } from '../access.ts';
import { asJson, type World } from '../terminal.ts';
import { ago } from '../time.ts';
import { absentAmong } from '../worker-names.ts';
import { approvalLines } from './approvals.ts';
import { sessionLines } from './sessions.ts';

/** Of each list that many; all of them are in lists of their own. */
const recentSessions = 5;

/** What the gateway says of its host; another machine's configuration says nothing of it (A1/2). */
interface Told {
  readonly dataDir?: string;
  readonly store?: string;
  readonly dangers?: readonly string[];
  readonly warnings?: readonly string[];
  readonly processes?:
    | readonly {
        readonly process: string;
        readonly services: readonly {
          readonly name: string;
          readonly problems: readonly string[];
          readonly warnings: readonly string[];
        }[];
      }[]
    | null;
  readonly counts?: Readonly<Record<string, number>>;
  readonly turnsRunning?: number;
  readonly pendingApprovals?: { readonly pending: number; readonly oldestAt: number | null };
  readonly queues?: Readonly<Record<string, number | null>>;
  readonly deliveriesInHand?: number;
  readonly deadLetters?: number | null;
}
interface State {
  readonly sessions: readonly IndexRow[];
  readonly approvals: readonly PendingApproval[];
  readonly told: Told;
}
const nothing: State = { sessions: [], approvals: [], told: {} };

const stateOf = async (client: NatterClient): Promise<State> => {
  const newest = { query: { limit: recentSessions } };
  const { sessions } = await client.get<Pick<State, 'sessions'>>('/v1/sessions', newest);
  const { approvals } = await client.get<Pick<State, 'approvals'>>('/v1/approvals', newest);
  const { result } = await client.post<{ result: Told }>('/v1/rpc', { method: 'status' });
  return { sessions, approvals, told: result };
};

const shown = (count: number | null | undefined): string => (count === null || count === undefined ? 'unknown' : String(count));
const named = (counts: Readonly<Record<string, number | null>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${shown(count)} ${name.replaceAll('_', ' ')}`)
    .join(', ');

/** What every process says of itself: how many run each service, and what is wrong with which. */
const processLines = (processes: NonNullable<Told['processes']>): string[] => {
  const runs: Record<string, number> = {};
  for (const { services } of processes) for (const { name } of services) runs[name] = (runs[name] ?? 0) + 1;
  const troubles = processes.flatMap(({ process, services }) =>
    services.flatMap(({ name, problems, warnings }) => [
      ...problems.map((problem) => `${pc.red('problem')}  ${name} of ${process}: ${problem}`),
      ...warnings.map((warning) => `${pc.yellow('warning')}  ${name} of ${process}: ${warning}`),
    ]),
  );
  const absent = absentAmong(new Set(Object.keys(runs))).map((name) => `${pc.red('problem')}  nobody runs ${name}`);
  return [`runs     ${named(runs) || pc.yellow('no process tells of itself')}`, ...absent, ...troubles];
};

/** The system in numbers; nothing where the gateway does not tell them, to a token that is not the owner's. */
const numberLines = (told: Told, now: number): string[] => {
  const { processes, counts, queues, pendingApprovals, turnsRunning, deliveriesInHand, deadLetters } = told;
  if (counts === undefined || queues === undefined) return [];
  const { pending = 0, oldestAt = null } = pendingApprovals ?? {};
  const dead = deadLetters === 0 ? '0' : pc.yellow(shown(deadLetters));
  return [
    ...(processes ? processLines(processes) : []),
    `sessions ${named(counts)}; ${shown(turnsRunning)} turns running`,
    `waits    ${pending} approvals${oldestAt === null ? '' : `, the oldest for ${ago(oldestAt, now)}`}; queued: ${named(queues)}; ${shown(deliveriesInHand)} deliveries in hand; ${dead} dead letters`,
  ];
};

/** `natter status` (A12/128): whether the system is ready, where its data is, what waits for a person, the most recent sessions. Exit code 1 when it is not ready. */
export const statusCommand = (program: Command, world: World): void => {
  program
    .command('status')
    .description('show whether the system is ready, where its data is, and the recent sessions')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const client = clientOf(world, common);
      const problems = await problemsOf(() => client.get('/readyz'));
      const { sessions, approvals, told } = problems.length > 0 ? nothing : await stateOf(client);
      const { dataDir, store, dangers = [], warnings = [], processes, counts, turnsRunning } = told;
      const { pendingApprovals, queues, deliveriesInHand, deadLetters } = told;
      const system = { processes, counts, turnsRunning, pendingApprovals, queues, deliveriesInHand, deadLetters };
      if (problems.length > 0) process.exitCode = 1;
      if (json) {
        const ready = problems.length === 0;
        return world.terminal.out(
          asJson({ ready, problems, dangers, warnings, url: client.url, dataDir, store, ...system, approvals, sessions }, 2),
        );
      }
      world.terminal.out(`gateway  ${client.url}  ${problems.length === 0 ? pc.green('ready') : pc.red('not ready')}`);
      if (dataDir !== undefined) world.terminal.out(`data     ${dataDir}`);
      if (store !== undefined) world.terminal.out(`store    ${store}`);
      for (const line of numberLines(told, world.now())) world.terminal.out(line);
      for (const problem of problems) world.terminal.out(`${pc.red('problem')}  ${problem}`);
      for (const danger of dangers) world.terminal.out(`${pc.red('danger')}   ${danger}`);
      // Where the processes tell their warnings themselves, these are among them.
      if (!processes?.length) for (const warning of warnings) world.terminal.out(`${pc.yellow('warning')}  ${warning}`);
      if (approvals.length > 0) world.terminal.out('');
      if (approvals.length > 0) for (const line of approvalLines(approvals, world.now())) world.terminal.out(line);
      if (sessions.length > 0) world.terminal.out('');
      if (sessions.length > 0) for (const line of sessionLines(sessions, world.now())) world.terminal.out(line);
    });
};

/** Why the gateway is not ready; empty: it is. */
export const problemsOf = async (askReady: () => Promise<unknown>): Promise<string[]> => {
  try {
    await askReady();
    return [];
  } catch (error) {
    if (error instanceof NatterApiError) return [explained(error)];
    throw error;
  }
};
