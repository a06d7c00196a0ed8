import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';

import { NatterApiError, type NatterClient } from '../../../../shared/client/main.ts';
import { buildKey, type SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { storedKey } from '../../../../shared/domain/keys/shown-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { exportStore } from '../../../../shared/domain/projections/transcript-layout.ts';
import { linesOf, type TranscriptLine } from '../../../../shared/domain/projections/transcript-line.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import { TranscriptFiles } from '../../../../shared/runtime/transcripts/files.ts';
import { mapPathOf, type StoreConfig, writeMap } from '../../../../shared/runtime/transcripts/session-map.ts';
import { type CommonOptions, clientOf, configOf, wholeNumber } from '../../access.ts';
import { commitsOf, noteLost } from '../../commits.ts';
import { example, words } from '../../example.ts';
import { asJson, type World } from '../../terminal.ts';
import { exportMarkdown, exportStored } from './export-one-file.ts';

interface ExportOptions extends CommonOptions {
  readonly out: string;
  readonly generation?: number;
  readonly stored?: boolean;
  readonly markdown?: boolean;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** Where the lines of a session go. */
type Sink = (key: SessionKey, lines: readonly TranscriptLine[]) => Promise<void>;

/** What was exported; `skipped`: sessions that could not be read, or were removed meanwhile. */
interface Exported {
  readonly rows: readonly IndexRow[];
  readonly lines: number;
  readonly skipped: readonly string[];
}

interface Exporting {
  readonly world: World;
  readonly client: NatterClient;
  readonly sink: Sink;
}

/** Lines written at once. */
const portionLines = 500;

/** Writes the transcripts of a session, oldest generation first, or of one generation. Resolves with the number of lines. */
const exportSession = async ({ world, client, sink }: Exporting, key: SessionKey, wanted?: number): Promise<number> => {
  const lines: TranscriptLine[] = [];
  let count = 0;
  let generation = 0;
  const flush = async (): Promise<void> => {
    count += lines.length;
    await sink(storedKey(key), lines.splice(0));
  };
  for await (const commit of commitsOf(client, key, { lost: noteLost(world, key) })) {
    for (const line of linesOf(commit)) {
      generation = line.generation ?? generation;
      if (wanted === undefined || wanted === generation) lines.push(line);
    }
    if (lines.length >= portionLines) await flush();
  }
  await flush();
  return count;
};

/** The rows of all sessions. In lists the global session is `main`, or absent (A3/40). */
const allRows = async (client: NatterClient, { agent }: Pick<StoreConfig, 'agent'>): Promise<IndexRow[]> => {
  const rows: IndexRow[] = [];
  for await (const row of client.sessions.list({ status: 'all', patienceMs: 5_000 })) if (row.key !== 'main') rows.push(row);
  const globalKey = buildKey({ agentId: agent.id, kind: 'global' });
  if ('problem' in globalKey) return rows;
  const globalRow = await client.sessions.get(globalKey.key).catch(unlessGone);
  return globalRow ? [...rows, { ...globalRow, key: globalKey.key }] : rows;
};

const unlessGone = (error: unknown): null => {
  if (error instanceof NatterApiError && error.status === 404) return null;
  throw error;
};

/** Exports every session. One that cannot be read does not stop the others. */
const exportAll = async (exporting: Exporting, rows: readonly IndexRow[]): Promise<Exported> => {
  const exported: IndexRow[] = [];
  const skipped: string[] = [];
  let lines = 0;
  for (const row of rows) {
    try {
      lines += await exportSession(exporting, row.key);
      exported.push({ ...row, key: storedKey(row.key) });
    } catch (error) {
      if (!(error instanceof NatterApiError) || (error.status !== 404 && !['quarantined', 'damaged'].includes(error.code)))
        throw error;
      skipped.push(row.key);
    }
  }
  return { rows: exported, lines, skipped };
};

const exportOne = async (exporting: Exporting, key: SessionKey, generation?: number): Promise<Exported> => {
  // Whatever short form the key was given in, the folder is that of its stored one.
  const row = await exporting.client.sessions.get(key, { patienceMs: 10_000 });
  const lines = await exportSession(exporting, row.key, generation);
  if (lines === 0) throw new NatterError('not_found', `--generation: ${key} has no generation ${generation ?? ''}`);
  return { rows: [row], lines, skipped: [] };
};

const writeMaps = async (rows: readonly IndexRow[], config: StoreConfig): Promise<void> => {
  for (const path of new Set(rows.map(({ key }) => mapPathOf(config, key)))) {
    await writeMap(
      path,
      rows.filter(({ key }) => mapPathOf(config, key) === path),
      config,
    );
  }
};

const terminalSink =
  ({ terminal }: World): Sink =>
  async (_, lines) => {
    for (const { text } of lines) terminal.out(text);
  };

/** Writes files below the folder. A session is exported from its beginning, so no file misses earlier lines. */
const fileSink = (store: string): Sink => {
  const files = new TranscriptFiles({ store, before: async function* () {} });
  return async (key, lines) => void (await files.write([{ key, erased: false, lines }]));
};

const showResult = ({ terminal }: World, { rows, lines, skipped }: Exported, folder: string, json = false): void => {
  const sessions = rows.length;
  if (json) terminal.out(asJson({ folder, sessions, lines, skipped }, 2));
  else terminal.note(`${counted(sessions, 'session')}, ${counted(lines, 'line')}, in ${folder}`);
};

/** `natter export`: transcripts as JSON Lines from the log, in the layout of A2/8–10 (A2/16, C12). */
export const exportCommand = (program: Command, world: World): void => {
  program
    .command('export')
    .argument('[key]', 'session key (default: all sessions)')
    .option('--out <folder>', 'write files below this folder; "-" is standard output', '-')
    .option('--markdown', 'write one session for people to read instead, as /export in the chat; --out is then a file')
    .option('--stored', 'write the commits as they are stored instead, for natter verify; --out is then a file')
    .option('--generation <number>', 'only this generation of the session', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--force', 'replace the file of --stored or --markdown that is there already')
    .option('--json', 'with --out: print what was written as JSON')
    .addHelpText('after', words('commit', 'generation'))
    .addHelpText('after', example('export agent:main:main --out transcripts'))
    .action(async (key: SessionKey | undefined, _: unknown, command: Command) => {
      const { out, generation, json, stored, markdown, force = false, ...common } = command.optsWithGlobals<ExportOptions>();
      const client = clientOf(world, common);
      if (markdown) return exportMarkdown(world, client, key, { out, force });
      if (stored) {
        const rows = key === undefined ? await allRows(client, configOf(world, common)) : [await client.sessions.get(key)];
        return exportStored(world, client, rows, { out, force });
      }
      if (key === undefined && generation !== undefined)
        throw new NatterError('invalid', '--generation needs a session key', { field: 'generation' });
      const { agent, session } = configOf(world, common);
      const folder = out === '-' ? null : resolve(out);
      if (folder !== null && statSync(folder, { throwIfNoEntry: false })?.isFile())
        throw new NatterError('invalid', `--out: ${folder} is a file; name a folder`, { field: 'out' });
      const config = { agent, session: { ...session, store: exportStore(folder ?? '') } };
      const sink = folder === null ? terminalSink(world) : fileSink(config.session.store);
      const exporting = { world, client, sink };
      const rows = key === undefined ? await allRows(client, config) : [];
      const exported = key === undefined ? await exportAll(exporting, rows) : await exportOne(exporting, key, generation);
      if (key === undefined && folder !== null) await writeMaps(exported.rows, config);
      for (const skipped of exported.skipped) world.terminal.note(`${skipped}: skipped; it cannot be read or was removed`);
      if (exported.skipped.length > 0) process.exitCode = 1;
      if (folder !== null) showResult(world, exported, folder, json);
    });
};
