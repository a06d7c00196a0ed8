import type { IndexRow } from '../../domain/projections/index-row.ts';
import { exportStore } from '../../domain/projections/transcript-layout.ts';
import { linesOf } from '../../domain/projections/transcript-line.ts';
import type { EventLog } from '../../ports/event-log.ts';
import { TranscriptFiles } from './files.ts';

/**
 * Writes the transcripts of a session, up to the sequence of its row, below the folder, in the layout of `natter export` (B2). Writing them again
 * changes nothing. Rejects if the log cannot be read or the folder not written.
 */
export const archiveTranscripts = async (
  events: Pick<EventLog, 'read'>,
  folder: string,
  { key, seq }: Pick<IndexRow, 'key' | 'seq'>,
): Promise<void> => {
  const files = new TranscriptFiles({ store: exportStore(folder), before: async function* () {} });
  for await (const commit of events.read(key, { upTo: seq })) await files.write([{ key, erased: false, lines: linesOf(commit) }]);
};
