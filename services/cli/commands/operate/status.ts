import type { Command } from 'commander';
import pc from 'picocolors';
import {
  NatterApiError,
  type NatterClient,
  type PendingApproval,
  type SessionRow,
  type UnavailableReason,
} from '../../../../shared/client/main.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import { absentAmong } from '../../../../shared/runtime/worker-names.ts';
import { type CommonOptions, clientOf, explained } from '../../access.ts';
import { example } from '../../example.ts';
import { asJson, columnsOf, type World } from '../../terminal.ts';
import { ago } from '../../time.ts';
import { approvalLines } from '../approvals-and-memory/approvals.ts';
import { sessionLines } from '../sessions/sessions.ts';

/** Rows of each list; `natter sessions` and `natter approvals list` show all. */
const recentSessions = 5;

/** The gateway's method `status`. It describes the gateway's machine, which may be another one (A1/2). */
interface SystemStatus {
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
  readonly openDeliveries?: number | null;
}
interface State {
  readonly sessions: readonly SessionRow[];
  readonly approvals: readonly PendingApproval[];
  readonly system: SystemStatus;
}
const nothing: State = { sessions: [], approvals: [], system: {} };

const stateOf = async (client: NatterClient): Promise<State> => {
  const newest = { query: { limit: recentSessions } };
  const { sessions } = await client.get<Pick<State, 'sessions'>>('/v1/sessions', newest);
  const { approvals } = await client.get<Pick<State, 'approvals'>>('/v1/approvals', newest);
  const { result } = await client.post<{ result: SystemStatus }>('/v1/rpc', { method: 'status' });
  return { sessions, approvals, system: result };
};

const shown = (count: number | null | undefined): string => (count === null || count === undefined ? 'unknown' : String(count));
const named = (counts: Readonly<Record<string, number | null>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${shown(count)} ${name.replaceAll('_', ' ')}`)
    .join(', ');

/** How many processes run each service, and the problems and warnings that each reports. */
const processLines = (processes: NonNullable<SystemStatus['processes']>): string[] => {
  const runs: Record<string, number> = {};
  for (const { services } of processes) for (const { name } of services) runs[name] = (runs[name] ?? 0) + 1;
  const troubles = processes.flatMap(({ process, services }) =>
    services.flatMap(({ name, problems, warnings }) => [
      ...problems.map((problem) => `${pc.red('problem')}  ${name} of ${process}: ${problem}`),
      ...warnings.map((warning) => `${pc.yellow('warning')}  ${name} of ${process}: ${warning}`),
    ]),
  );
  const absent = absentAmong(new Set(Object.keys(runs))).map((name) => `${pc.red('problem')}  no process runs ${name}`);
  return [`runs     ${named(runs) || pc.yellow('no process reports its health')}`, ...absent, ...troubles];
};

/** Counts of the whole system; empty when the gateway leaves them out, because the token is not the owner's. */
const numberLines = (system: SystemStatus, now: number): string[] => {
  const { processes, counts, queues, pendingApprovals, turnsRunning, deliveriesInHand, deadLetters, openDeliveries } = system;
  if (counts === undefined || queues === undefined) return [];
  const { pending = 0, oldestAt = null } = pendingApprovals ?? {};
  const dead = deadLetters === 0 ? '0' : pc.yellow(shown(deadLetters));
  const open = openDeliveries
    ? [`${pc.yellow('warning')}  ${openDeliveries} outgoing messages may not have arrived (natter deliveries)`]
    : [];
  return [
    ...open,
    ...(processes ? processLines(processes) : []),
    `sessions ${named(counts)}; ${turnsRunning == null ? 'unknown' : counted(turnsRunning, 'turn')} running`,
    `waits    ${counted(pending, 'approval')}${oldestAt === null ? '' : `, the oldest waiting ${ago(oldestAt, now)}`}; queued: ${named(queues)}; ${shown(deliveriesInHand)} deliveries in hand; ${dead} dead letters`,
  ];
};

/** `natter status` (A12/128): readiness, where the data is, pending approvals, recent sessions. Exit code 1 if the system is not ready. */
export const statusCommand = (program: Command, world: World): void => {
  program
    .command('status')
    .option('--json', 'print JSON')
    .addHelpText('after', example('status'))
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const client = clientOf(world, common);
      const details = await problemsOf(() => client.get('/readyz'));
      const problems = details.map(({ message }) => message);
      const { sessions, approvals, system } = problems.length > 0 ? nothing : await stateOf(client);
      const { dataDir, store, dangers = [], warnings = [], processes, counts, turnsRunning } = system;
      const { pendingApprovals, queues, deliveriesInHand, deadLetters, openDeliveries } = system;
      const outgoing = { deliveriesInHand, deadLetters, openDeliveries };
      const numbers = { processes, counts, turnsRunning, pendingApprovals, queues, ...outgoing };
      if (problems.length > 0) process.exitCode = 1;
      if (json) {
        const ready = problems.length === 0;
        return world.terminal.out(
          asJson(
            { ready, problems, details, dangers, warnings, url: client.url, dataDir, store, ...numbers, approvals, sessions },
            2,
          ),
        );
      }
      const codes = [...new Set(details.map(({ code }) => code))].join(', ');
      world.terminal.out(`gateway  ${client.url}  ${codes === '' ? pc.green('ready') : pc.red(`not ready: ${codes}`)}`);
      for (const { message, fix } of details) {
        world.terminal.out(`${pc.red('problem')}  ${message}`);
        if (fix !== '') world.terminal.out(`         → ${fix}`);
      }
      if (dataDir !== undefined) world.terminal.out(`data     ${dataDir}`);
      if (store !== undefined) world.terminal.out(`store    ${store}`);
      for (const line of numberLines(system, world.now())) world.terminal.out(line);
      for (const danger of dangers) world.terminal.out(`${pc.red('danger')}   ${danger}`);
      // Processes that report their health include these warnings.
      if (!processes?.length) for (const warning of warnings) world.terminal.out(`${pc.yellow('warning')}  ${warning}`);
      if (approvals.length > 0) world.terminal.out('');
      if (approvals.length > 0)
        for (const line of approvalLines(approvals, world.now(), columnsOf(world))) world.terminal.out(line);
      if (sessions.length > 0) world.terminal.out('');
      if (sessions.length > 0) for (const line of sessionLines(sessions, world.now(), columnsOf(world))) world.terminal.out(line);
    });
};

/** Why a call to the gateway fails, such as that of `/readyz`; empty if it does not. */
export const problemsOf = async (call: () => Promise<unknown>): Promise<readonly UnavailableReason[]> => {
  try {
    await call();
    return [];
  } catch (error) {
    if (!(error instanceof NatterApiError)) throw error;
    return error.reasons.length > 0 ? error.reasons : [{ code: error.code, message: explained(error), fix: '' }];
  }
};
