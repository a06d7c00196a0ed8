import type { Command } from 'commander';
import type { Forked } from '../../../shared/client/main.ts';
import { type CommonOptions, clientOf } from '../access.ts';
import { asJson, oneLine, type World } from '../terminal.ts';
import { momentAt } from '../time.ts';

interface ForkOptions extends CommonOptions {
  readonly at?: string;
  readonly json?: boolean;
}

/** `natter fork` (B21): the session goes on from an earlier point; what came since stays in the log. */
export const forkCommand = (program: Command, world: World): void => {
  program
    .command('fork')
    .argument('<key>', 'the session, such as agent:main:main')
    .description('let a session go on from an earlier point; its history stays')
    .option('--at <place>', 'a sequence or time, such as 1234, 2026-11-21T10:00Z or -2h; without it: now')
    .option('--json', 'the answer of the gateway as JSON')
    .action(async (key: string, _: unknown, command: Command) => {
      const { at, json, ...common } = command.optsWithGlobals<ForkOptions>();
      const place = at === undefined ? undefined : momentAt(at, world.now());
      const answer = await clientOf(world, common).sessions.fork(key, { at: place, patienceMs: 10_000 });
      if (json) world.terminal.out(asJson(answer, 2));
      else world.terminal.out(lineOf(key, answer));
    });
};

const lineOf = (key: string, { sessionId, generation, forkedFrom }: Forked): string =>
  sessionId === undefined || forkedFrom === undefined
    ? `${oneLine(key, 256)}: the fork is stored and will take effect`
    : `${oneLine(key, 256)} goes on as ${oneLine(sessionId, 128)} (generation ${generation}) from sequence ${forkedFrom.seq} of ${oneLine(forkedFrom.sessionId, 128)}`;
