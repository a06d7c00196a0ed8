import { resolve } from 'node:path';
import type { Command } from 'commander';
import { NatterApiError, type NatterClient, type Retention } from '../../../../shared/client/main.ts';
import { storedKey } from '../../../../shared/domain/keys/shown-key.ts';
import { exportStore } from '../../../../shared/domain/projections/transcript-layout.ts';
import { linesOf } from '../../../../shared/domain/projections/transcript-line.ts';
import type { LogBytes } from '../../../../shared/domain/reset/retention.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import { TranscriptFiles } from '../../../../shared/runtime/transcripts/files.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { commitsOf, noteLost } from '../../commits.ts';
import { isConfirmed } from '../../confirm.ts';
import { example } from '../../example.ts';
import { asJson, type World } from '../../terminal.ts';
import { type EraseDueOptions, eraseDue } from './erase-due.ts';
import { linesOfDue, sizeText } from './shown-due.ts';

interface CleanupOptions extends CommonOptions, EraseDueOptions {
  readonly erase?: boolean;
}
type Due = Retention['due'][number];

const logText = ({ live, deleted }: LogBytes): string =>
  `in the log: ${sizeText(live)} of sessions, ${sizeText(deleted)} of deleted ones`;
const keptNote = 'Their history stays in the log; --erase frees its space';

/** Deletes the session unless it was used in the meantime. Resolves with whether it did. */
const remove = async (client: NatterClient, { key, seq }: Due): Promise<boolean> => {
  try {
    await client.sessions.delete(key, { mode: 'key', ifMatch: seq });
    return true;
  } catch (error) {
    if (error instanceof NatterApiError && ['precondition_failed', 'session_unknown', 'not_found'].includes(error.code))
      return false;
    throw error;
  }
};

/**
 * `natter sessions cleanup`: removes what retention has due, now and in any mode (B2). The gateway says what is due; with `--erase` the index at
 * the broker does.
 */
export const addCleanup = (sessions: Command, world: World): void => {
  sessions
    .command('cleanup')
    .description('delete the sessions that are due by session.maintenance of the configuration')
    .option('--dry-run', 'only show what would be deleted')
    .option('--erase', 'also erase their histories, and those deleted long ago, at the broker: frees space, for good')
    .option('--archive <folder>', 'write their transcripts below this folder first')
    .option('--limit <count>', 'maximum number of sessions, least recently used first', wholeNumber(1, 1_000), 1_000)
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print JSON')
    .addHelpText('after', example('sessions cleanup --dry-run'))
    .action(async (_: unknown, command: Command) => {
      const { erase, dryRun, yes, archive, limit, json, ...common } = command.optsWithGlobals<CleanupOptions>();
      const { terminal } = world;
      if (erase)
        return eraseDue(world, common, {
          limit,
          ...(dryRun && { dryRun }),
          ...(yes && { yes }),
          ...(json && { json }),
          ...(archive !== undefined && { archive }),
        });
      const client = clientOf(world, common);
      const { count, due, mode, logBytes } = await client.get<Retention>('/v1/retention', { query: { limit } });
      if (!json) for (const line of due.length === 0 ? [] : linesOfDue(due, world.now())) terminal.out(line);
      if (dryRun || due.length === 0) {
        if (json) terminal.out(asJson({ mode, count, due, logBytes, deleted: 0 }, 2));
        else terminal.note(`due: ${counted(count, 'session')} (session.maintenance.mode is "${mode}"); ${logText(logBytes)}`);
        return;
      }
      if (!yes && !(await isConfirmed(world, `Delete ${counted(due.length, 'session')}?`, 'delete')))
        return terminal.note('nothing was deleted');
      const folder = archive === undefined ? null : exportStore(resolve(archive));
      const files = folder === null ? null : new TranscriptFiles({ store: folder, before: async function* () {} });
      let deleted = 0;
      for (const one of due) {
        const key = storedKey(one.key);
        for await (const commit of files ? commitsOf(client, one.key, { lost: noteLost(world, key) }) : [])
          await files?.write([{ key, erased: false, lines: linesOf(commit) }]);
        deleted += (await remove(client, one)) ? 1 : 0;
      }
      if (json) terminal.out(asJson({ mode, count, due, logBytes, deleted }, 2));
      else terminal.note(`${counted(deleted, 'session')} deleted; in use again: ${due.length - deleted}. ${keptNote}`);
    });
};
