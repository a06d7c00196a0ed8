import type { Command } from 'commander';
import pc from 'picocolors';
import { dangers } from '../../../shared/policy/dm-safety.ts';
import type { IndexRow } from '../../../shared/session/summary.ts';
import { type CommonOptions, clientOf, configOf } from '../access.ts';
import { ApiError } from '../api-client.ts';
import { asJson, type World } from '../terminal.ts';
import { sessionLines } from './sessions.ts';

const recentSessions = 5;

/** `natter status` (A12/128): whether the system is ready, where its data is, the most recent sessions. Exit code 1 when it is not ready. */
export const statusCommand = (program: Command, world: World): void => {
  program
    .command('status')
    .description('show whether the system is ready, where its data is, and the recent sessions')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const client = clientOf(world, common);
      const config = configOf(world, common);
      const { dataDir } = config;
      const dangerous = dangers(config);
      const problems = await problemsOf(() => client.get('/readyz'));
      const sessions =
        problems.length > 0
          ? []
          : (await client.get<{ sessions: IndexRow[] }>('/v1/sessions', { query: { limit: recentSessions } })).sessions;
      if (problems.length > 0) process.exitCode = 1;
      if (json) {
        world.terminal.out(
          asJson({ ready: problems.length === 0, problems, dangers: dangerous, url: client.url, dataDir, sessions }, 2),
        );
        return;
      }
      world.terminal.out(`gateway  ${client.url}  ${problems.length === 0 ? pc.green('ready') : pc.red('not ready')}`);
      world.terminal.out(`data     ${dataDir}`);
      for (const problem of problems) world.terminal.out(`${pc.red('problem')}  ${problem}`);
      for (const danger of dangerous) world.terminal.out(`${pc.red('danger')}   ${danger}`);
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
