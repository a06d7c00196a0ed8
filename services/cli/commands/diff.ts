import type { Command } from 'commander';
import pc from 'picocolors';
import type { Diff, Place } from '../../../shared/client/main.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../access.ts';
import { eventLine } from '../event-line.ts';
import { asJson, oneLine, type World } from '../terminal.ts';
import { momentAt } from '../time.ts';

interface DiffOptions extends CommonOptions {
  readonly from: string;
  readonly to?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `natter diff`: what changed in a session between two moments, and the events that did it. */
export const diffCommand = (program: Command, world: World): void => {
  program
    .command('diff')
    .argument('<key>', 'the session')
    .description('what changed in a session between two moments')
    .requiredOption('--from <place>', 'the earlier sequence or time, such as 1234, 2026-11-21T10:00Z or -2h')
    .option('--to <place>', 'the later one; without it: now')
    .option('--limit <events>', 'events at most', wholeNumber(1, limits.pageRows), 100)
    .option('--json', 'as JSON')
    .action(async (key: string, _: unknown, command: Command) => {
      const { from, to, limit, json, ...common } = command.optsWithGlobals<DiffOptions>();
      const now = world.now();
      const span = { from: momentAt(from, now), to: to === undefined ? undefined : momentAt(to, now), limit };
      const changes = await clientOf(world, common).sessions.diff(key, { ...span, patienceMs: 10_000 });
      if (json) return world.terminal.out(asJson(changes, 2));
      for (const line of linesOf(changes)) world.terminal.out(line);
    });
};

const placeText = ({ seq, rev, at }: Place): string =>
  seq === 0 ? 'the beginning' : `seq ${seq}, rev ${rev}, ${new Date(at).toISOString()}`;

const linesOf = ({ key, from, to, changes, events, next, more }: Diff): string[] => [
  pc.bold(oneLine(key, 256)),
  pc.dim(`from ${placeText(from)}`),
  pc.dim(`to   ${placeText(to)}`),
  ...events.map(eventLine),
  ...(more ? [pc.dim(`more events after ${next}: use a greater --limit, or --from ${next.split('.')[0]}`)] : []),
  ...changes.map(({ path, before, after }) => `${path}: ${pc.red(asJson(before ?? null))} → ${pc.green(asJson(after ?? null))}`),
  ...(changes.length === 0 ? ['nothing changed'] : []),
];
