import type { NatterClient } from '../../../../shared/client/main.ts';
import { storedKey } from '../../../../shared/domain/keys/shown-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { counted } from '../../../../shared/kit/text/counted.ts';
import { exportFile, exportToFile, sessionAsMarkdown } from '../../chat/export-file.ts';
import { exportLines } from '../../stored-export.ts';
import { asJson, type World } from '../../terminal.ts';

/** The file that is written, or `-` for standard output; `force` replaces one that is there. */
interface OneFile {
  readonly out: string;
  readonly force: boolean;
}
const ifThere = ({ force }: OneFile) => (force ? 'replace' : 'ask for --force');

/** Writes the stored commits of sessions. */
export const exportStored = async (
  { terminal, now }: World,
  client: NatterClient,
  rows: readonly Pick<IndexRow, 'key'>[],
  to: OneFile,
): Promise<void> => {
  // Commits name the stored key, whatever short form this one was given in.
  const keys = rows.map((row) => storedKey(row.key));
  const file = to.out === '-' ? null : await exportFile(to.out, ifThere(to));
  const at = new Date(now()).toISOString();
  try {
    for (const each of keys)
      for await (const line of exportLines(client, each, at))
        if (file === null) terminal.out(asJson(line));
        else await file.write(`${asJson(line)}\n`);
  } finally {
    await file?.close();
  }
  if (file !== null) terminal.note(`${counted(keys.length, 'session')}, in ${to.out}; check it with: natter verify ${to.out}`);
};

/** Writes a session as the chat's `/export` does. */
export const exportMarkdown = async (
  { terminal }: World,
  client: NatterClient,
  key: string | undefined,
  to: OneFile,
): Promise<void> => {
  if (key === undefined) throw new NatterError('invalid', '--markdown needs a session key, such as main', { field: 'key' });
  if (to.out === '-') return terminal.out((await sessionAsMarkdown(client, key)).text.trimEnd());
  terminal.note(await exportToFile(client, key, { file: to.out, ifThere: ifThere(to) }));
};
