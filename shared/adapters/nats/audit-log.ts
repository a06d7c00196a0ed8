import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { limits } from '../../kit/limits.ts';
import type { AuditLog, StoredAudit } from '../../ports/audit-log.ts';
import { auditCodec } from '../../wire/records.ts';
import type { Subjects } from '../../wire/subjects.ts';
import { streamNames } from '../../wire/topology.ts';
import { toNatterError } from './client/broker-errors.ts';
import { readBatch } from './client/direct-read.ts';
import { ReplyInbox } from './client/reply-inbox.ts';

export interface AuditLogOptions {
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  readonly requestTimeoutMs: number;
}
interface ReadRange {
  readonly after: number;
  readonly limit: number;
  /** Only records of this subject, that is, of one kind. */
  readonly subject?: string;
}

const attempts = 3;
/** When too few of the newest records are found, the search reaches this many times further back. */
const stride = 4;

/** The audit trail in the stream AUDIT, which drops its oldest records by itself. */
export const openAuditLog = async (options: AuditLogOptions): Promise<AuditLog> => {
  const { connection, subjects, requestTimeoutMs: timeout } = options;
  const stream = streamNames(subjects.prefix).audit;
  const client = jetstream(connection, { timeout });
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout });
  const inbox = new ReplyInbox(connection);

  /** Records after a sequence, up to `limit`. Unreadable ones are skipped. */
  const read = async ({ after, limit, subject }: ReadRange): Promise<{ records: StoredAudit[]; more: boolean }> => {
    const records: StoredAudit[] = [];
    let [position, more] = [after, true];
    while (more && records.length < limit) {
      const count = Math.min(limit - records.length, limits.readCommits);
      const range = { stream, after: position, count, timeoutMs: timeout, ...(subject !== undefined && { subject }) };
      const batch = await readBatch(inbox, range);
      for (const { seq, data } of batch.messages) {
        position = seq;
        const record = recordOrNull(data);
        if (record !== null) records.push({ ...record, seq });
      }
      more = batch.more;
    }
    return { records, more };
  };

  /** The last records before a sequence, up to `limit`, oldest first. */
  const newest = async (limit: number, end: number, subject: Pick<ReadRange, 'subject'>): Promise<StoredAudit[]> => {
    const { first_seq: first, last_seq: last } = (await manager.streams.info(stream)).state;
    const beginning = Math.max(0, first - 1);
    const newestSeq = Math.min(last, end - 1);
    for (let reach = limit; ; reach *= stride) {
      const after = Math.max(beginning, newestSeq - reach);
      const { records } = await read({ after, limit: reach, ...subject });
      const found = records.filter(({ seq }) => seq < end);
      if (found.length >= limit || after === beginning) return found.slice(-limit);
    }
  };

  return {
    append: async (record) => {
      const bytes = auditCodec.encode(record);
      // The same id in all attempts: a record whose acknowledgement was lost is stored once.
      const msgID = randomUUID();
      for (let attempt = 1; ; attempt++) {
        try {
          await client.publish(subjects.audit(record.kind), bytes, { msgID });
          return;
        } catch (error) {
          if (attempt === attempts) throw toNatterError(error, 'write the audit trail');
        }
      }
    },
    page: async ({ after, before, limit, kind }) => {
      const subject = kind === undefined ? {} : { subject: subjects.audit(kind) };
      try {
        if (after !== undefined) return await read({ after, limit, ...subject });
        if (before === undefined) return { records: await newest(limit, Number.POSITIVE_INFINITY, subject), more: false };
        const records = await newest(limit + 1, before, subject);
        return { records: records.slice(-limit), more: records.length > limit };
      } catch (error) {
        throw toNatterError(error, 'read the audit trail');
      }
    },
  };
};

const recordOrNull = (bytes: Uint8Array) => {
  try {
    return auditCodec.decode(bytes);
  } catch {
    return null;
  }
};
