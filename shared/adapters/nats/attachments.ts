import { createHash, randomUUID } from 'node:crypto';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { waitForReplica } from '../../kit/wait-for-replica.ts';
import { type Attachments, attachmentRefreshMs, type StoredAttachment } from '../../ports/objects/attachments.ts';
import {
  chunkBytes,
  decodeObjectRecord,
  encodeObjectRecord,
  type ObjectRecord,
  objectName,
  parsedObjectName,
} from '../../wire/object-record.ts';
import { chunkSubject, chunksName, objectSubject } from '../../wire/subjects.ts';
import { objectStoreNames } from '../../wire/topology.ts';
import type { StoredMessage } from '../streams/stored-message.ts';
import { failureOf, orNatterError, toNatterError } from './client/broker-errors.ts';
import { isStrayAnswer, readBatch } from './client/direct-read.ts';
import { ReplyInbox } from './client/reply-inbox.ts';
import { onlyAfter } from './client/send-once.ts';
import { StreamMessages } from './client/stream-messages.ts';
import { type Publication, publishTogether } from './publish/atomic-publisher.ts';

export interface NatsAttachmentsOptions {
  readonly connection: NatsConnection;
  readonly prefix: string;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
}

/** What is stored of an object last: its description and the place of that. */
interface Described {
  readonly record: ObjectRecord;
  readonly seq: number;
}

const readMessages = 64;
/** Of times that somebody else writes the same object just then. */
const tries = 4;

export const openAttachments = async (options: NatsAttachmentsOptions): Promise<Attachments> => {
  const { connection, requestTimeoutMs } = options;
  return new NatsAttachments(await jetstreamManager(connection, { checkAPI: false, timeout: requestTimeoutMs }), options);
};

/**
 * Attachments in a JetStream object store. It is accessed through its stream, as buckets are: the client's own `get` needs the right to create
 * consumers (ADR 2), and its `put` leaves chunks behind when it is interrupted. Here an object is one atomic batch, so it is there or not, and
 * its description is fenced (ADR 27).
 */
class NatsAttachments implements Attachments {
  readonly #manager: JetStreamManager;
  readonly #inbox: ReplyInbox;
  readonly #messages: StreamMessages;
  readonly #clock: Clock;
  readonly #bucket: string;
  readonly #stream: string;
  readonly #timeoutMs: number;

  constructor(manager: JetStreamManager, { connection, prefix, clock, requestTimeoutMs }: NatsAttachmentsOptions) {
    this.#manager = manager;
    this.#inbox = new ReplyInbox(connection);
    this.#clock = clock;
    this.#timeoutMs = requestTimeoutMs;
    ({ bucket: this.#bucket, stream: this.#stream } = objectStoreNames(prefix));
    const own = { manager, inbox: this.#inbox, stream: this.#stream };
    this.#messages = new StreamMessages({ ...own, count: readMessages, timeoutMs: requestTimeoutMs });
  }

  async put(key: SessionKey, content: Uint8Array): Promise<string> {
    const digest = sha256(content);
    for (let attempt = 0; attempt < tries; attempt++) {
      const known = await this.#described(key, digest);
      const now = this.#clock.now();
      const mtime = new Date(now).toISOString();
      if (known !== null && known.record.deleted !== true) {
        if (now - Date.parse(known.record.mtime) < attachmentRefreshMs) return digest;
        if ((await this.#write([], { ...known.record, mtime }, digest, known.seq)) !== null) return digest;
        continue;
      }
      const id = randomUUID();
      const chunks = chunksOf(content).map((part) => publication(chunkSubject(this.#bucket, key, digest, id), part));
      const described = { name: objectName(key, digest), nuid: chunksName(key, digest, id), mtime };
      const record = { ...described, size: content.length, chunks: chunks.length };
      if ((await this.#write(chunks, record, digest, known?.seq ?? 0)) !== null) return digest;
    }
    throw new NatterError('unavailable', 'the broker did not store the attachment in time; send it again');
  }

  async get(key: SessionKey, digest: string): Promise<Uint8Array | null> {
    for (let attempt = 1; ; attempt++) {
      const known = await this.#described(key, digest);
      if (known === null || known.record.deleted) return null;
      const parts: Uint8Array[] = [];
      for await (const { data } of this.#messages.of(`$O.${this.#bucket}.C.${known.record.nuid}`)) parts.push(data);
      const content = Buffer.concat(parts);
      if (sha256(content) === digest) return content;
      // A replica may not have all of it yet.
      if (parts.length < known.record.chunks && (await waitForReplica(this.#clock, attempt))) continue;
      throw new NatterError('damaged', `the attachment ${digest} of ${key} is not what was stored`);
    }
  }

  async after(place: number): Promise<{ stored: StoredAttachment[]; more: boolean }> {
    const subject = `$O.${this.#bucket}.M.*`;
    const request = { stream: this.#stream, after: place, subject, count: readMessages, timeoutMs: this.#timeoutMs };
    const { messages, more } = await orNatterError('list attachments', readBatch(this.#inbox, request));
    return { stored: messages.flatMap((message) => storedIn(message) ?? []), more };
  }

  async of(key: SessionKey): Promise<StoredAttachment[]> {
    const filter = chunkSubject(this.#bucket, key, '*', '*');
    const { state } = await orNatterError(
      'list attachments',
      this.#manager.streams.info(this.#stream, { subjects_filter: filter }),
    );
    const digests = new Set(Object.keys(state.subjects ?? {}).map((subject) => subject.split('.').at(-2) ?? ''));
    const found: StoredAttachment[] = [];
    for (const digest of digests) {
      const known = await this.#described(key, digest);
      if (known) found.push({ key, digest, place: known.seq, at: Date.parse(known.record.mtime) });
    }
    return found;
  }

  async remove({ key, digest, place }: StoredAttachment): Promise<boolean> {
    const known = await this.#described(key, digest);
    if (known === null) return true;
    const end = known.record.deleted ? known.seq : known.seq === place ? await this.#markGone(known, digest) : null;
    if (end === null) return false;
    // Also chunks of an earlier removal that was cut off. What is stored again meanwhile comes later.
    for (const subject of [chunkSubject(this.#bucket, key, digest, '*'), this.#describing(key, digest)])
      await this.#removeUpTo(subject, end);
    return true;
  }

  /** A reader finds from now on that it is gone, and whoever stores it again begins anew. */
  #markGone({ record, seq }: Described, digest: string): Promise<number | null> {
    return this.#write([], { ...record, size: 0, chunks: 0, deleted: true }, digest, seq);
  }

  #describing(key: SessionKey, digest: string): string {
    return objectSubject(this.#bucket, objectName(key, digest));
  }

  /** From the leader: never stale. */
  async #described(key: SessionKey, digest: string): Promise<Described | null> {
    const last = { last_by_subj: this.#describing(key, digest) };
    const message = await orNatterError('read an attachment', this.#manager.streams.getMessage(this.#stream, last));
    if (message === null || isStrayAnswer(String(message.header), 0)) return null;
    const record = decodeObjectRecord(message.data);
    return record && { record, seq: message.seq };
  }

  /** Chunks and their description together. Resolves with its place, or `null` if it was not at `seq`, or nobody knows. */
  async #write(chunks: readonly Publication[], record: ObjectRecord, digest: string, seq: number): Promise<number | null> {
    const subject = objectSubject(this.#bucket, record.name);
    const payload = encodeObjectRecord(record, this.#bucket, digest);
    const last = { subject, payload, headers: onlyAfter(subject, seq) };
    try {
      // A batch is as long as the attachment: on a slow disk it takes longer than other requests.
      return (await publishTogether(this.#inbox, [...chunks, last], 5 * this.#timeoutMs)).seq;
    } catch (error) {
      const failure = failureOf(error);
      if (failure === 'conflict' || failure === 'unknown') return null;
      throw toNatterError(error, 'store an attachment');
    }
  }

  /** Asks the leader: a replica may not show yet what was stored last. */
  async #removeUpTo(subject: string, end: number): Promise<void> {
    for (let seq = 0; ; ) {
      const next = { seq: seq + 1, next_by_subj: subject };
      const message = await orNatterError('read an attachment', this.#manager.streams.getMessage(this.#stream, next));
      if (message === null || message.seq > end) return;
      await this.#messages.remove([message.seq]);
      seq = message.seq;
    }
  }
}

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

const publication = (subject: string, payload: Uint8Array): Publication => ({ subject, payload, headers: {} });

const chunksOf = (content: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(content.length / chunkBytes) }, (_, index) =>
    content.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );

const storedIn = ({ data, seq, time }: StoredMessage): StoredAttachment | null => {
  const record = decodeObjectRecord(data);
  const named = record && parsedObjectName(record.name);
  if (record === null || !named) return null;
  // A removal that was cut off is as new as its beginning, so that the sweep finds it.
  const at = record.deleted ? time : Date.parse(record.mtime);
  return { key: named.key as SessionKey, digest: named.digest, place: seq, at };
};
