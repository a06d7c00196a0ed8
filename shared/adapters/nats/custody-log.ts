import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { limits } from '../../kit/limits.ts';
import type { CustodyLog, CustodyRecord } from '../../ports/custody-log.ts';
import { custodyCodec } from '../../wire/custody-record.ts';
import type { Subjects } from '../../wire/subjects.ts';
import { streamNames } from '../../wire/topology.ts';
import { writeFenced } from '../kv/fenced-write.ts';
import type { QueueGuard } from '../kv/guards/queue-guard.ts';
import { toNatterError } from './client/broker-errors.ts';
import { isStrayAnswer, readBatch } from './client/direct-read.ts';
import { ReplyInbox } from './client/reply-inbox.ts';
import { onlyAfter, sendOnce } from './client/send-once.ts';
import { newestCustody } from './newest-custody.ts';

export interface CustodyLogOptions {
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  readonly requestTimeoutMs: number;
  /** That of the stream: what was sent must not be forgotten unnoticed. */
  readonly guard?: QueueGuard | undefined;
}

/** The delivery log in the stream DELIVERIES: fenced by the conversation's last sequence, whatever the state (I9). */
export const openCustodyLog = async ({
  connection,
  subjects,
  requestTimeoutMs: timeout,
  guard,
}: CustodyLogOptions): Promise<CustodyLog> => {
  const stream = streamNames(subjects.prefix).deliveries;
  const inbox = new ReplyInbox(connection);
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout });

  const last: CustodyLog['last'] = async (target) => {
    const subject = subjects.deliveriesTo(target);
    try {
      const message = await manager.streams.getMessage(stream, { last_by_subj: subject });
      if (message === null) return null;
      const isStray = isStrayAnswer(String(message.header), 0);
      const bytes = isStray ? await lastWritten(subject, message.seq) : message.data;
      return { record: bytes && custodyCodec.decode(bytes), seq: message.seq };
    } catch (error) {
      throw toNatterError(error, 'read the delivery log');
    }
  };

  /** The last message before a sequence that somebody has written; `null`: none. */
  const lastWritten = async (subject: string, before: number): Promise<Uint8Array | null> => {
    let written: Uint8Array | null = null;
    for (let after = 0, more = true; more && after < before; ) {
      const batch = await readBatch(inbox, { stream, after, subject, count: limits.readCommits, timeoutMs: timeout });
      for (const { data, seq } of batch.messages) {
        after = seq;
        if (data.length > 0 && seq < before) written = data;
      }
      more = batch.more;
    }
    return written;
  };

  const read: CustodyLog['read'] = async function* (target, after) {
    const subject = subjects.deliveriesTo(target);
    let from: { after: number } | { storedFrom: number } = { storedFrom: after + 1 };
    for (let more = true; more; ) {
      const batch = await readBatch(inbox, { stream, ...from, subject, count: limits.readCommits, timeoutMs: timeout });
      for (const { data, seq } of batch.messages) {
        from = { after: seq };
        if (data.length > 0) yield custodyCodec.decode(data);
      }
      more = batch.more;
    }
  };

  const newest = newestCustody({ manager, inbox, stream, subjects, timeoutMs: timeout });

  const append: CustodyLog['append'] = async (record, expectedSeq) => {
    const doing = 'write the delivery log';
    const options = { timeoutMs: timeout, headers: onlyAfter(subjects.deliveriesTo(record.target), expectedSeq) };
    const bytes = custodyCodec.encode(record);
    return writeFenced({
      send: () => sendOnce(inbox, subjects.delivery(record.state, record.target), bytes, options, doing),
      resolve: async () => {
        const newest = await last(record.target);
        if ((newest?.seq ?? 0) === expectedSeq) return { kind: 'open' };
        return newest?.record && newest.seq > expectedSeq && isSame(newest.record, record)
          ? { kind: 'ours', seq: newest.seq }
          : { kind: 'taken' };
      },
      doing,
    });
  };
  if (guard === undefined) return { last, read, newest, append };

  return {
    last: async (target) => {
      await guard.check();
      return last(target);
    },
    read,
    newest,
    append: async (record, expectedSeq) => {
      const { seq, duplicate } = await guard.store(async () => {
        const stored = await append(record, expectedSeq);
        return { seq: stored ?? 0, duplicate: stored === null };
      });
      return duplicate ? null : seq;
    },
  };
};

/** A member writes a state only once per attempt at an outbound. */
const isSame = (one: CustodyRecord, other: CustodyRecord): boolean =>
  one.outboundId === other.outboundId &&
  one.state === other.state &&
  one.attempt === other.attempt &&
  one.at === other.at &&
  one.by === other.by;
