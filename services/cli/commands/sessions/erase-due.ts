import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../../../../shared/domain/config/schema.ts';
import { keyContextOf } from '../../../../shared/domain/keys/legacy-key.ts';
import { shortKey } from '../../../../shared/domain/keys/shown-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import {
  type ErasableSession,
  erasableSessions,
  logBytesOf,
  retentionSettings,
} from '../../../../shared/domain/reset/retention.ts';
import { isErasure } from '../../../../shared/domain/session/chain.ts';
import { hasCode } from '../../../../shared/kit/errors.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import type { Eraser } from '../../../../shared/ports/eraser.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import { archiveTranscripts } from '../../../../shared/runtime/transcripts/archive.ts';
import { atBroker, type CommonOptions } from '../../access.ts';
import type { ListedErasure } from '../../backup/erasure-list.ts';
import { isConfirmed } from '../../confirm.ts';
import { installationIn } from '../../installation.ts';
import { operatorOf } from '../../operator.ts';
import { asJson, type World } from '../../terminal.ts';
import { linesOfDue, sizeText } from './shown-due.ts';

export interface EraseDueOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly archive?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** How to erase one session that is due. */
interface Erasing {
  readonly ports: Ports;
  readonly eraser: Eraser;
  readonly actor: string;
  readonly archive: string | undefined;
  readonly recorded: (erasure: ListedErasure) => Promise<void>;
}

/** Only the last erasure on the list can have been interrupted: what it left is removed now. */
const finishLast = async ({ ports, eraser, actor, recorded }: Erasing, listed: readonly ListedErasure[]): Promise<void> => {
  const last = listed.toSorted((one, other) => one.at - other.at).at(-1);
  if (last === undefined) return;
  const commit = await ports.events.last(last.key);
  if (commit === null || !isErasure(commit) || (await ports.events.count(last.key)) === 1) return;
  const { eraseSession } = await import('../../runtime/erasure.ts');
  await eraseSession(ports, eraser, { key: last.key, actor, reason: 'an interrupted erasure', recorded });
};

/** Erases it, with its transcripts kept first if there is an archive. Resolves with false if it is in use again. */
const eraseOne = async (
  { ports, eraser, actor, archive, recorded }: Erasing,
  { row, rule }: ErasableSession,
): Promise<boolean> => {
  // Loaded on demand: the broker client is large.
  const { eraseSession } = await import('../../runtime/erasure.ts');
  if (archive !== undefined) await archiveTranscripts(ports.events, archive, row);
  const { key, seq: ifSeq } = row;
  try {
    await eraseSession(ports, eraser, { key, actor, reason: `unused: ${retentionSettings[rule]}`, ifSeq, recorded });
    return true;
  } catch (error) {
    if (hasCode(error, 'invalid') && (await ports.events.last(key))?.seq !== ifSeq) return false;
    throw error;
  }
};

const reportOf = (config: Config, rows: readonly IndexRow[], chosen: readonly ErasableSession[], count: number) => ({
  mode: config.session.maintenance.mode,
  count,
  due: chosen.map(({ row: { key, seq, interactedAt, messageCount, logBytes }, rule }) => ({
    ...{ key, shownKey: shortKey(key, keyContextOf(config)), rule, seq, interactedAt, messageCount, logBytes },
  })),
  logBytes: logBytesOf(rows),
  bytes: chosen.reduce((sum, { row: { logBytes = 0 } }) => sum + logBytes, 0),
});

/** What would be freed, and of how much. */
const show = ({ terminal, now }: World, { due, bytes, logBytes }: ReturnType<typeof reportOf>): void => {
  const { live, deleted, unknown } = logBytes;
  if (due.length > 0) for (const line of linesOfDue(due, now())) terminal.out(line);
  terminal.note(`to be erased: ${sizeText(bytes)} of ${sizeText(live + deleted)} in the log`);
  if (unknown === 0) return;
  terminal.note(`not counted: ${counted(unknown, 'session')} of an older version; see "Retention" in docs/operate/operations.md`);
};

/**
 * `natter sessions cleanup --erase`: what retention has due is erased at the broker, and the history of what was deleted long enough ago, or is
 * more than the log may have (B1, B2, C9). Each erasure is in the audit trail and in the list for restores. Run it again if it was interrupted.
 */
export const eraseDue = async (world: World, common: CommonOptions, options: EraseDueOptions): Promise<void> => {
  const { dryRun, yes, limit, json } = options;
  const { terminal } = world;
  const config = atBroker(world, common);
  const { existingBroker } = await import('../../runtime/broker.ts');
  const { withEraser } = await import('../../runtime/erasure.ts');
  const { listErasure, readErasures } = await import('../../backup/erasure-list.ts');
  const installation = installationIn(config.dataDir);
  await withEraser(config, existingBroker(config, installation), async (ports, eraser) => {
    const folder = options.archive ?? config.session.maintenance.archiveDir;
    const recorded = (erasure: ListedErasure): Promise<void> => listErasure(installation, erasure);
    const archive = folder === undefined ? undefined : resolve(folder);
    const erasing = { ports, eraser, actor: operatorOf(world), archive, recorded };
    const view = await ports.index.watch();
    const rows = [...view.rows()];
    await view.close();
    const all = erasableSessions(rows, config.session, world.now());
    const chosen = all.slice(0, limit);
    const report = reportOf(config, rows, chosen, all.length);
    if (!json) show(world, report);
    if (dryRun) return json ? terminal.out(asJson({ ...report, erased: 0, freedBytes: 0 }, 2)) : undefined;
    const question = `Erase ${counted(chosen.length, 'session')} permanently?`;
    if (chosen.length > 0 && !yes && !(await isConfirmed(world, question, 'erase'))) return terminal.note('nothing was erased');

    if (existsSync(installation.paths.erasures)) await finishLast(erasing, await readErasures(installation.paths.erasures));
    let [erased, freedBytes] = [0, 0];
    for (const one of chosen) {
      if (!(await eraseOne(erasing, one))) continue;
      erased += 1;
      freedBytes += one.row.logBytes ?? 0;
    }
    if (json) return terminal.out(asJson({ ...report, erased, freedBytes }, 2));
    terminal.note(`${counted(erased, 'session')} erased, ${sizeText(freedBytes)} freed; in use again: ${chosen.length - erased}`);
  });
};
