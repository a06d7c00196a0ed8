import type { Command } from 'commander';
import pc from 'picocolors';
import type { IndexRow } from '../../../shared/session/summary.ts';
import { type CommonOptions, clientOf } from '../access.ts';
import { type ApiClient, ApiError } from '../api-client.ts';
import { asJson, type World } from '../terminal.ts';
import { approvalLines, type PendingApproval } from './approvals.ts';
import { sessionLines } from './sessions.ts';

/** Of each list that many; all of them are in lists of their own. */
const recentSessions = 5;

/** What the gateway says of its host; another machine's configuration says nothing of it (A1/2). */
interface Told {
  readonly dataDir?: string;
  readonly store?: string;
  readonly dangers?: readonly string[];
  readonly warnings?: readonly string[];
}
interface State {
  readonly sessions: readonly IndexRow[];
  readonly approvals: readonly PendingApproval[];
  readonly told: Told;
}
const nothing: State = { sessions: [], approvals: [], told: {} };

const stateOf = async (client: ApiClient): Promise<State> => {
  const newest = { query: { limit: recentSessions } };
  const { sessions } = await client.get<Pick<State, 'sessions'>>('/v1/sessions', newest);
  const { approvals } = await client.get<Pick<State, 'approvals'>>('/v1/approvals', newest);
  const { result } = await client.post<{ result: Told }>('/v1/rpc', { method: 'status' });
  return { sessions, approvals, told: result };
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
      const { dataDir, store, dangers = [], warnings = [] } = told;
      if (problems.length > 0) process.exitCode = 1;
      if (json) {
        const ready = problems.length === 0;
        return world.terminal.out(
          asJson({ ready, problems, dangers, warnings, url: client.url, dataDir, store, approvals, sessions }, 2),
        );
      }
      world.terminal.out(`gateway  ${client.url}  ${problems.length === 0 ? pc.green('ready') : pc.red('not ready')}`);
      if (dataDir !== undefined) world.terminal.out(`data     ${dataDir}`);
      if (store !== undefined) world.terminal.out(`store    ${store}`);
      for (const problem of problems) world.terminal.out(`${pc.red('problem')}  ${problem}`);
      for (const danger of dangers) world.terminal.out(`${pc.red('danger')}   ${danger}`);
      for (const warning of warnings) world.terminal.out(`${pc.yellow('warning')}  ${warning}`);
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
    if (error instanceof ApiError) return [error.message];
    throw error;
  }
};
