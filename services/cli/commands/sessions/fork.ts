import type { Command } from 'commander';
import type { Forked } from '../../../../shared/client/main.ts';
import { type CommonOptions, clientOf } from '../../access.ts';
import { example, words } from '../../example.ts';
import { asJson, oneLine, type World } from '../../terminal.ts';
import { logPlace } from '../../time.ts';

interface ForkOptions extends CommonOptions {
  readonly at?: string;
  readonly json?: boolean;
}

/** `natter fork` (B21): the session continues from an earlier point; what came since stays in the log. */
export const forkCommand = (program: Command, world: World): void => {
  program
    .command('fork')
    .argument('<key>', 'session key, such as agent:main:main')
    .option('--at <place>', 'sequence or time, such as 1234, 2026-11-21T10:00Z or -2h (default: now)')
    .option('--json', 'print JSON')
    .addHelpText('after', words('commit', 'generation', 'sequence'))
    .addHelpText('after', example('fork agent:main:main --at -2h'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { at, json, ...common } = command.optsWithGlobals<ForkOptions>();
      const place = at === undefined ? undefined : logPlace('--at', at, world.now());
      const answer = await clientOf(world, common).sessions.fork(key, { at: place, patienceMs: 10_000 });
      if (json) world.terminal.out(asJson(answer, 2));
      else world.terminal.out(lineOf(key, answer));
      if (!json && at !== undefined && answer.rev !== undefined && answer.forkedFrom?.rev === answer.rev - 1)
        world.terminal.out('that was the newest commit, so nothing is left behind');
    });
};

const lineOf = (key: string, { sessionId, generation, forkedFrom }: Forked): string =>
  sessionId === undefined || forkedFrom === undefined
    ? `${oneLine(key, 256)}: the fork is stored and will take effect`
    : `${oneLine(key, 256)} continues as ${oneLine(sessionId, 128)} (generation ${generation}) from commit ${forkedFrom.rev} (log sequence ${forkedFrom.seq}) of ${oneLine(forkedFrom.sessionId, 128)}`;
