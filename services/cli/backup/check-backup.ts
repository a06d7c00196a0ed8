import { NatterError } from '../../../shared/kit/errors.ts';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { streamNames } from '../../../shared/wire/topology.ts';
import { messageOf } from './back-up.ts';
import type { ListedErasure } from './erasure-list.ts';
import { LogCheck } from './log-check.ts';
import { backedUp, isOfLaterVersions, type LogEntry, type Manifest, readManifest, type StreamEntry } from './manifest.ts';
import { checkFile } from './stream-file.ts';
import { WaitingMessages } from './waiting.ts';

export interface CheckedBackup {
  readonly manifest: Manifest;
  readonly log: LogEntry;
  readonly waiting: WaitingMessages;
}

/**
 * Checks a backup without a broker: the manifest, every file against it, and the chain of every session. Throws `NatterError('invalid')` with
 * the name of the file that is torn, changed or of another backup, and `unsupported` for another format.
 */
export const checkBackup = async (
  folder: string,
  config: Config,
  erasures: readonly ListedErasure[] = [],
): Promise<CheckedBackup> => {
  const manifest = await readManifest(folder);
  const { commands, events, timers, inbound } = streamNames(manifest.prefix);
  const entries = new Map(manifest.streams.map((entry) => [entry.name, entry]));
  const entryOf = (name: string): StreamEntry => {
    const entry = entries.get(name);
    if (entry === undefined) throw new NatterError('invalid', `${folder} has no stream ${name}`);
    return entry;
  };
  const waiting = new WaitingMessages({
    config: { ...config, prefix: manifest.prefix },
    commandsCreatedAt: entryOf(commands).createdAt,
    erasures: [...manifest.erasures, ...erasures],
  });
  const log = new LogCheck(subjectsUnder(manifest.prefix));

  await checkFile(folder, manifest.published, (entry) => waiting.note(entry));
  for (const name of backedUp(manifest.prefix)) {
    if (!entries.has(name) && isOfLaterVersions(manifest.prefix, name)) continue;
    const entry = entryOf(name);
    const queued = [timers, inbound, commands].includes(name);
    const { messages } = await checkFile(folder, entry, (message) => {
      if (queued) waiting.note(message);
      if (name !== events) return;
      const commit = log.take(messageOf(message));
      if (commit !== null) waiting.compare(commit);
    });
    if (messages !== entry.messages)
      throw new NatterError('invalid', `${entry.file} of the backup has ${messages} messages, not ${entry.messages}`);
  }
  const found = log.result();
  if (found.digest !== manifest.log.digest)
    throw new NatterError('invalid', `${entryOf(events).file} of the backup is another log than in manifest.json`);
  return { manifest, log: found, waiting };
};
