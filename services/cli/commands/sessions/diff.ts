import type { Command } from 'commander';
import pc from 'picocolors';
import type { Diff, Place } from '../../../../shared/client/main.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { eventLine } from '../../event-line.ts';
import { example, words } from '../../example.ts';
import { showLines } from '../../pager.ts';
import { asJson, oneLine, type World } from '../../terminal.ts';
import { logPlace, timeText, zoneOf } from '../../time.ts';

interface DiffOptions extends CommonOptions {
  readonly from: string;
  readonly to?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `natter diff`: what changed in a session between two places in its log, and the events that changed it. */
export const diffCommand = (program: Command, world: World): void => {
  program
    .command('diff')
    .argument('<key>', 'session key, such as agent:main:main')
    .requiredOption('--from <place>', 'sequence or time to start from, such as 1234, 2026-11-21T10:00Z or -2h')
    .option('--to <place>', 'sequence or time to end at (default: now)')
    .option('--limit <events>', 'maximum number of events', wholeNumber(1, limits.pageRows), 100)
    .option('--json', 'print JSON')
    .addHelpText('after', words('rev', 'sequence'))
    .addHelpText('after', example('diff agent:main:main --from -2h'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { from, to, limit, json, ...common } = command.optsWithGlobals<DiffOptions>();
      const now = world.now();
      const span = { from: logPlace('--from', from, now), to: to === undefined ? undefined : logPlace('--to', to, now), limit };
      const changes = await clientOf(world, common).sessions.diff(key, { ...span, patienceMs: 10_000 });
      if (json) return world.terminal.out(asJson(changes, 2));
      await showLines(world, linesOf(changes, zoneOf(world, common)));
    });
};

const placeText = ({ seq, rev, at }: Place, zone: string): string =>
  seq === 0 ? 'the beginning' : `seq ${seq}, rev ${rev}, ${timeText(at, zone)}`;

const linesOf = ({ key, from, to, changes, events, next, more }: Diff, zone: string): string[] => [
  pc.bold(oneLine(key, 256)),
  pc.dim(`from ${placeText(from, zone)}`),
  pc.dim(`to   ${placeText(to, zone)}`),
  ...events.map((event) => eventLine(event, zone)),
  ...(more ? [pc.dim(`more events after ${next}: use a larger --limit, or --from ${next.split('.')[0]}`)] : []),
  ...changes.map(({ path, before, after }) => `${path}: ${pc.red(asJson(before ?? null))} → ${pc.green(asJson(after ?? null))}`),
  ...(changes.length === 0 ? ['nothing changed'] : []),
];
