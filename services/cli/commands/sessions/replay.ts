import type { Command } from 'commander';
import pc from 'picocolors';
import { summaryOf } from '../../../../shared/domain/projections/event-summary.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { type SessionState, toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { type Difference, differences } from '../../../../shared/kit/comparison.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import { type CommonOptions, clientOf } from '../../access.ts';
import { example, words } from '../../example.ts';
import { type Replay, replaySession } from '../../replay-session.ts';
import { asJson, oneLine, type World } from '../../terminal.ts';
import { logPlace, timeText, zoneOf } from '../../time.ts';

/** What a commit changed, without the position, which every commit changes. */
const changesOf = (before: SessionState, after: SessionState): Difference[] => {
  const [one, other] = [toPlain(before), toPlain(after)];
  return differences({ status: one.status, ...one.context }, { status: other.status, ...other.context });
};

const showCommit = (
  { terminal }: World,
  zone: string,
  commit: RecordedCommit,
  before: SessionState,
  after: SessionState,
): void => {
  terminal.out(`${pc.dim(`seq ${commit.seq}`)}  ${pc.bold(`rev ${commit.rev}`)}  ${pc.dim(timeText(commit.at, zone))}`);
  for (const event of commit.events) terminal.out(`  ${pc.cyan(event.type)}  ${summaryOf(event, oneLine)}`);
  for (const change of changesOf(before, after))
    terminal.out(`    ${change.path}: ${pc.red(asJson(change.before ?? null))} → ${pc.green(asJson(change.after ?? null))}`);
};

/** `natter replay`: checks that the log alone gives the state the server has. Exit code 1 if it does not. */
export const replayCommand = (program: Command, world: World): void => {
  program
    .command('replay')
    .argument('<key>', 'session key, such as agent:main:main')
    .option('--at <place>', 'stop at this sequence or time')
    .option('--diff', 'show what each commit changed')
    .option('--json', 'print JSON')
    .addHelpText('after', words('commit', 'generation', 'rev', 'sequence'))
    .addHelpText('after', example('replay agent:main:main --diff'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { at, diff, json, ...common } = command.optsWithGlobals<
        CommonOptions & { at?: string; diff?: boolean; json?: boolean }
      >();
      const history: object[] = [];
      const replay = await replaySession(clientOf(world, common), key, {
        ...(at !== undefined && { at: logPlace('--at', at, world.now()) }),
        seen: (commit, before, after) => {
          if (diff && json)
            history.push({ seq: commit.seq, rev: commit.rev, events: commit.events, changes: changesOf(before, after) });
          else if (diff) showCommit(world, zoneOf(world, common), commit, before, after);
          else world.terminal.progress(`replaying ${key}: commit ${commit.rev}`);
        },
      });
      world.terminal.settled();
      const identical = replay.differences.length === 0;
      if (!identical) process.exitCode = 1;
      if (json) return world.terminal.out(asJson({ ...replay, identical, ...(diff && { history }) }, 2));
      showResult(world, replay);
    });
};

const showResult = ({ terminal }: World, { key, commits, events, state, serverFrom, differences: found }: Replay): void => {
  const { status, context, position } = state;
  terminal.out(`${pc.bold(key)}  ${status}, generation ${context.generation}`);
  terminal.out(`${counted(commits, 'commit')}, ${counted(events, 'event')}, up to sequence ${position.seq}`);
  terminal.out(
    `${counted(context.messages, 'message')}, ${counted(context.completedTurns, 'completed turn')}, ${context.queue.length} queued`,
  );
  if (found.length === 0)
    return terminal.out(
      pc.green(
        `identical to the server's state (made from its ${serverFrom === 'snapshot' ? 'snapshot and the commits after it' : 'log'})`,
      ),
    );
  terminal.out(pc.red(`differs from the server's state in ${counted(found.length, 'place')}:`));
  for (const { path, before, after } of found.slice(0, 20))
    terminal.out(`  ${path}: replay ${asJson(before ?? null)}, server ${asJson(after ?? null)}`);
};
