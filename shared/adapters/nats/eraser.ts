import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Eraser } from '../../ports/eraser.ts';
import { custodyCodec } from '../../wire/custody-record.ts';
import { bucketNames, streamNames } from '../../wire/topology.ts';
import { letterOrNull } from '../streams/dead-letter.ts';
import { createEraser, type EraserOptions } from '../streams/eraser.ts';
import { openAttachments } from './attachments.ts';
import { orNatterError } from './client/broker-errors.ts';
import { ReplyInbox } from './client/reply-inbox.ts';
import { StreamMessages } from './client/stream-messages.ts';
import { openKvStore } from './kv-store.ts';
import { incarnationOf } from './stream-config.ts';

export interface NatsEraserOptions extends Omit<EraserOptions, 'store' | 'memory' | 'attachments'> {
  /** Must have the right to delete events, commands, deliveries, dead letters, memories and attachments, and to purge events and timers. */
  readonly connection: NatsConnection;
  readonly requestTimeoutMs: number;
}

const readMessages = 256;

/**
 * The eraser of a broker. Messages are deleted one by one, which overwrites them on disk; a purge would leave their bytes (ADR
 * 8).
 */
export const openEraser = async ({ connection, requestTimeoutMs, ...options }: NatsEraserOptions): Promise<Eraser> => {
  const { subjects } = options;
  const names = streamNames(subjects.prefix);
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: requestTimeoutMs });
  const inbox = new ReplyInbox(connection);
  const memories = bucketNames(subjects.prefix).memory;
  const attachments = await openAttachments({ connection, prefix: subjects.prefix, clock: options.clock, requestTimeoutMs });
  const memory = await openKvStore({ connection, bucket: memories, requestTimeoutMs });

  const purge = async (stream: string, range: { filter: string; seq?: number }): Promise<number> =>
    (await orNatterError(`purge ${stream}`, purgeOf(manager, stream, range))).purged;
  const messagesOf = (stream: string): StreamMessages =>
    new StreamMessages({ inbox, manager, stream, count: readMessages, timeoutMs: requestTimeoutMs });
  const remove = (stream: string, seqs: readonly number[]): Promise<number> => messagesOf(stream).remove(seqs);

  return createEraser({
    ...options,
    attachments,
    memory,
    store: {
      commits: async (key, before) => {
        const seqs: number[] = [];
        for await (const { seq } of messagesOf(names.events).of(subjects.eventsOf(key))) if (seq < before) seqs.unshift(seq);
        // Newest first: at any moment the rest is a history without gaps, followed by the erasure.
        const removed = await remove(names.events, seqs);
        // Messages that a lagging replica did not show.
        return removed + (await purge(names.events, { filter: subjects.eventsOf(key), seq: before }));
      },
      timers: (key) => purge(names.timers, { filter: subjects.timersOf('commands', { key }) }),
      commands: async (key, upTo) => {
        // In another life of the stream the position has no meaning.
        const found = await orNatterError('describe the commands', manager.streams.info(names.commands));
        if (incarnationOf(found) !== upTo.incarnation) return 0;
        const seqs: number[] = [];
        for await (const { seq } of messagesOf(names.commands).of(subjects.storedCommandsOf(key)))
          if (seq <= upTo.seq) seqs.push(seq);
        return remove(names.commands, seqs);
      },
      custody: async (target, belongs) => {
        const records: { seq: number; ours: boolean }[] = [];
        for await (const { seq, data } of messagesOf(names.deliveries).of(subjects.deliveriesTo(target)))
          records.push({ seq, ours: belongs(custodyCodec.decode(data)) });
        const removable = records.slice(0, -1).filter(({ ours }) => ours);
        return remove(
          names.deliveries,
          removable.map(({ seq }) => seq),
        );
      },
      deadLetters: async (belongs) => {
        const found: number[] = [];
        for await (const { seq, data } of messagesOf(names.dead).of()) {
          const letter = letterOrNull(data);
          if (letter !== null && belongs(letter)) found.push(seq);
        }
        return remove(names.dead, found);
      },
      memory: async ({ revision }) => void (await remove(`KV_${memories}`, [revision])),
    },
  });
};

const purgeOf = (manager: JetStreamManager, stream: string, { filter, seq }: { filter: string; seq?: number }) =>
  manager.streams.purge(stream, seq === undefined ? { filter } : { filter, seq });
