import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { streamNames } from '../../../shared/wire/topology.ts';
import { type ArchiveState, ArchiveWriter, type Entry } from './archive.ts';
import type { CheckedBackup } from './check-backup.ts';
import type { StreamEntry } from './manifest.ts';
import { messagesIn } from './stream-file.ts';

/**
 * How far the log's sequences jump in a restore: more than the commits that can have been made since the backup. So no sequence that was
 * seen outside (an event's id, the id of a message sent) ever means another commit, and no delivery record is ahead of the log.
 */
const lostCommits = 10_000_000;

/** What a stream is restored from. */
export interface RestoreArchive {
  readonly state: ArchiveState;
  pieces(): AsyncGenerator<Buffer>;
}

/** Makes the archives of a backup anew: without what was done or erased since, and with what was published meanwhile. */
export const archivesOf = (
  folder: string,
  { manifest, waiting }: CheckedBackup,
): ((entry: StreamEntry) => Promise<RestoreArchive>) => {
  const { checkpoints, commands, events, inbound, timers } = streamNames(manifest.prefix);
  const subjects = subjectsUnder(manifest.prefix);
  const waits = waiting.waiting();

  async function* all(entry: StreamEntry): AsyncGenerator<Entry> {
    for await (const batch of messagesIn(folder, entry)) yield* batch;
  }
  async function* published(timed: boolean): AsyncGenerator<Entry> {
    for await (const batch of messagesIn(folder, manifest.published))
      for (const message of batch) if (subjects.queueOf(message.name)?.timed === timed) yield message;
  }
  async function* waitingMessages(entry: StreamEntry): AsyncGenerator<Entry> {
    for await (const message of all(entry)) if (waits(message)) yield message;
  }
  async function* waitingCommands(entry: StreamEntry): AsyncGenerator<Entry> {
    const known = new Set<string>();
    for await (const message of all(entry)) {
      known.add(messageId(message));
      if (waits(message, message.seq)) yield message;
    }
    let seq = entry.lastSeq;
    for await (const message of published(false)) {
      if (known.has(messageId(message)) || !waits(message)) continue;
      known.add(messageId(message));
      yield { ...message, name: subjects.storedCommand(message.name, manifest.partitions), seq: ++seq };
    }
  }
  /** A timer replaces the one with its name; one without content cancels it. */
  async function* waitingTimers(entry: StreamEntry): AsyncGenerator<Entry> {
    const newest = new Map<string, Entry>();
    for await (const message of published(true)) newest.set(message.name, message);
    for await (const message of all(entry)) if (!newest.has(message.name) && waits(message)) yield message;
    let seq = entry.lastSeq;
    for (const message of newest.values()) if (message.payload.length > 0 && waits(message)) yield { ...message, seq: ++seq };
  }
  const special = new Map([
    [inbound, waitingMessages],
    [checkpoints, waitingMessages],
    [commands, waitingCommands],
    [timers, waitingTimers],
  ]);

  /** The broker wants to know beforehand what comes. */
  const stateOf = async (
    { name, bytes, lastSeq, ...entry }: StreamEntry,
    kept: AsyncGenerator<Entry> | null,
  ): Promise<ArchiveState> => {
    let { messages, firstSeq: first } = entry;
    let last = name === events ? lastSeq + lostCommits : lastSeq;
    if (kept !== null) {
      messages = 0;
      for await (const { seq } of kept) {
        if (messages === 0) first = seq;
        messages += 1;
        last = Math.max(last, seq);
      }
    }
    return { messages, bytes, first_seq: messages === 0 ? last + 1 : first, last_seq: last };
  };

  return async (entry) => {
    const kept = special.get(entry.name);
    const state = await stateOf(entry, kept?.(entry) ?? null);
    async function* pieces(): AsyncGenerator<Buffer> {
      const writer = new ArchiveWriter();
      yield writer.start(state);
      for await (const message of (kept ?? all)(entry)) {
        const piece = writer.add(message);
        if (piece !== null) yield piece;
      }
      yield writer.end();
    }
    return { state, pieces };
  };
};

/** The id under which it was published; every queue sets one. */
const messageId = ({ header, name, seq }: Entry): string =>
  /\r\nNats-Msg-Id: ?(.*)\r\n/i.exec(header.toString())?.[1] ?? `${name} ${seq}`;
