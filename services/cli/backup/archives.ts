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
  /** How many messages are in the pieces that were passed on. */
  count(): number;
  pieces(): AsyncGenerator<Buffer>;
}

/** Makes the archives of a backup anew: without what was done or erased since, and with what was published meanwhile. */
export const archivesOf = (folder: string, { manifest, waiting }: CheckedBackup): ((entry: StreamEntry) => RestoreArchive) => {
  const { commands, events, inbound, timers } = streamNames(manifest.prefix);
  const subjects = subjectsUnder(manifest.prefix);
  const waits = waiting.waiting();

  async function* all(entry: StreamEntry): AsyncGenerator<Entry> {
    for await (const batch of messagesIn(folder, entry)) yield* batch;
  }
  async function* published(timed: boolean): AsyncGenerator<Entry> {
    for await (const batch of messagesIn(folder, manifest.published))
      for (const message of batch) if (subjects.queueOf(message.name)?.timed === timed) yield message;
  }
  async function* waitingInbound(entry: StreamEntry): AsyncGenerator<Entry> {
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
    [inbound, waitingInbound],
    [commands, waitingCommands],
    [timers, waitingTimers],
  ]);

  return (entry) => {
    const { name, firstSeq, lastSeq, messages, bytes } = entry;
    const state = { messages, bytes, first_seq: firstSeq, last_seq: name === events ? lastSeq + lostCommits : lastSeq };
    let count = 0;
    async function* pieces(): AsyncGenerator<Buffer> {
      const writer = new ArchiveWriter();
      yield writer.start(state);
      for await (const message of (special.get(name) ?? all)(entry)) {
        count += 1;
        const piece = writer.add(message);
        if (piece !== null) yield piece;
      }
      yield writer.end();
    }
    return { state, pieces, count: () => count };
  };
};

/** The id under which it was published; every queue sets one. */
const messageId = ({ header, name, seq }: Entry): string =>
  /\r\nNats-Msg-Id: ?(.*)\r\n/i.exec(header.toString())?.[1] ?? `${name} ${seq}`;
