import type { JetStreamManager } from '@nats-io/jetstream';
import { limits } from '../../kit/limits.ts';
import type { CustodyLog, CustodyRecord, StoredCustody } from '../../ports/custody-log.ts';
import { custodyCodec } from '../../wire/custody-record.ts';
import type { Subjects } from '../../wire/subjects.ts';
import { toNatterError } from './client/broker-errors.ts';
import { readBatch } from './client/direct-read.ts';
import type { ReplyInbox } from './client/reply-inbox.ts';

interface Reading {
  readonly manager: JetStreamManager;
  readonly inbox: ReplyInbox;
  readonly stream: string;
  readonly subjects: Subjects;
  readonly timeoutMs: number;
}

/** How many records are looked through for the newest of a state: at first, and at most, in one step; each reaches further than the last. */
const [leastReach, mostReach] = [256, 16_384];
const [stride, mostSteps] = [4, 4];

/** Reads the newest records of a state in the delivery log, of all conversations. */
export const newestCustody = ({ manager, inbox, stream, subjects, timeoutMs }: Reading): CustodyLog['newest'] => {
  /** The records of a subject after a sequence and before another, oldest first. What is none is skipped. */
  const between = async (subject: string, after: number, before: number): Promise<StoredCustody[]> => {
    const records: StoredCustody[] = [];
    for (let position = after, more = true; more && position < before - 1; ) {
      const batch = await readBatch(inbox, { stream, after: position, subject, count: limits.readCommits, timeoutMs });
      for (const { data, seq } of batch.messages) {
        position = seq;
        const record = seq < before ? recordOrNull(data) : null;
        if (record !== null) records.push({ ...record, seq });
      }
      more = batch.more;
    }
    return records;
  };

  return async (state, { before: end, limit }) => {
    const subject = subjects.deliveriesIn(state);
    try {
      const { first_seq: first, last_seq: last } = (await manager.streams.info(stream)).state;
      const found: StoredCustody[] = [];
      let before = Math.min(end ?? Number.POSITIVE_INFINITY, last + 1);
      // Where few of the records have this state, each step reaches further back than the one before.
      let reach = Math.max(2 * limit, leastReach);
      for (let step = 0; step < mostSteps && before > first; step++) {
        const after = Math.max(first, before - reach) - 1;
        reach = Math.min(reach * stride, mostReach);
        found.push(...(await between(subject, after, before)).reverse());
        before = after + 1;
        if (found.length > limit) break;
      }
      const records = found.slice(0, limit);
      const isFull = found.length > limit;
      return { records, next: isFull ? (records.at(-1)?.seq ?? null) : before > first ? before : null };
    } catch (error) {
      throw toNatterError(error, 'read the delivery log');
    }
  };
};

const recordOrNull = (bytes: Uint8Array): CustodyRecord | null => {
  try {
    return custodyCodec.decode(bytes);
  } catch {
    return null;
  }
};
