import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { NatterError } from '../../kit/errors.ts';
import { bucketSubject } from '../../wire/subjects.ts';
import type { Entry, KeyValue } from '../kv/key-value.ts';
import { putEntry } from '../kv/put-entry.ts';
import { orNatterError } from './client/broker-errors.ts';
import { isStrayAnswer, readBatch } from './client/direct-read.ts';
import { onReconnect } from './client/on-reconnect.ts';
import { ReplyInbox } from './client/reply-inbox.ts';
import { onlyAfter, sendOnce } from './client/send-once.ts';
import { Anchors } from './publish/anchors.ts';
import { incarnationOf } from './stream-config.ts';

export interface KvStoreOptions {
  readonly connection: NatsConnection;
  /** A provisioned bucket of `bucketNames`. */
  readonly bucket: string;
  /** Where a replicated bucket takes anchors (`StreamSpec.anchor`): for whoever writes much. */
  readonly anchor?: string | undefined;
  readonly requestTimeoutMs: number;
}

const repeatAfterMs = 200;

interface Read {
  readonly seq: number;
  readonly data: Uint8Array;
}

/**
 * A NATS key-value bucket, accessed through its stream: the client's own `KV` reads from any replica, cannot renew a time to
 * live, and watches through a consumer, which services must not have the right to create (ADR 2).
 */
export const openKvStore = async (options: KvStoreOptions): Promise<KeyValue> => {
  const { connection, bucket, anchor, requestTimeoutMs: timeout } = options;
  const stream = `KV_${bucket}`;
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout });
  const inbox = new ReplyInbox(connection);
  const anchors = new Anchors({ inbox, manager: Promise.resolve(manager), stream, subject: anchor, requestTimeoutMs: timeout });
  const subjectOf = (key: string): string => bucketSubject(bucket, key);
  const keyOf = (subject: string): string => subject.slice(subjectOf('').length);

  const entryOf = (key: string, message: Read | null, stray = false): Entry => ({
    key,
    revision: message?.seq ?? 0,
    value: message === null || message.data.length === 0 || stray ? null : message.data,
  });
  const read = async (key: string): Promise<Entry> => {
    const message = await orNatterError(`read ${bucket}`, manager.streams.getMessage(stream, { last_by_subj: subjectOf(key) }));
    return entryOf(key, message, isStrayAnswer(String(message?.header), 0));
  };

  return {
    read,
    peek: async (key) => {
      const message = await orNatterError(`read ${bucket}`, manager.direct.getMessage(stream, { last_by_subj: subjectOf(key) }));
      return entryOf(key, message, isStrayAnswer(String(message?.header), 1));
    },
    put: (key, value, { fence, ttlMs } = {}) => {
      anchors.note(value?.length ?? 0);
      const doing = `write ${bucket}`;
      const headers = {
        // Marks a removed key for other key-value clients.
        ...(value === null && { 'KV-Operation': 'DEL' }),
        ...(ttlMs !== undefined && { 'Nats-TTL': `${Math.ceil(ttlMs / 1_000)}s` }),
        ...(fence && onlyAfter(subjectOf(fence.key), fence.revision)),
      };
      const options = { timeoutMs: timeout, headers };
      let sends = 0;
      const send = async () => {
        // A conflict though nothing is stored yet: another write is on its way to the replicas, and needs a moment.
        if (sends > 0) await delay(sends * repeatAfterMs);
        sends += 1;
        return sendOnce(inbox, subjectOf(key), value ?? new Uint8Array(), options, doing);
      };
      return putEntry({ key, value, fence, send, read, doing });
    },
    changes: async (part, after, count) => {
      const request = { stream, after, subject: subjectOf(`${part}.>`), count, timeoutMs: timeout };
      const { messages, more } = await orNatterError(`read ${bucket}`, readBatch(inbox, request));
      return {
        entries: messages.map((message) => ({ ...entryOf(keyOf(message.subject), message), writtenAt: message.time })),
        more,
      };
    },
    hint: (filter, wake) => {
      if (connection.isClosed() || connection.isDraining()) return () => {};
      const subscription = connection.subscribe(subjectOf(filter), { callback: wake });
      const stopListening = onReconnect(connection, wake);
      return () => {
        stopListening();
        subscription.unsubscribe();
      };
    },
    info: async () => {
      // Every answer of the broker has its time, which the client's types leave out.
      const found: StreamInfo & { ts?: string } = await orNatterError(`describe ${bucket}`, manager.streams.info(stream));
      const now = Date.parse(found.ts ?? '');
      if (Number.isNaN(now)) throw new NatterError('unavailable', `the broker's description of ${bucket} has no time`);
      return { incarnation: incarnationOf(found), revision: found.state.last_seq, now };
    },
  };
};
