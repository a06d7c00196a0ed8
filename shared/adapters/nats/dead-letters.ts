import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { limits } from '../../kit/limits.ts';
import { escapeText } from '../../kit/text/escape-text.ts';
import type { DeadLetters, ListedDeadLetter } from '../../ports/dead-letters.ts';
import { deadLetterCodec } from '../../wire/records.ts';
import type { Subjects } from '../../wire/subjects.ts';
import { streamNames } from '../../wire/topology.ts';
import { letterOrNull, listedOrNull, sourceOf, storable } from '../streams/dead-letter.ts';
import { isGone, toNatterError } from './client/broker-errors.ts';
import { readBatch } from './client/direct-read.ts';
import { ReplyInbox } from './client/reply-inbox.ts';

export interface DeadLettersOptions {
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  readonly requestTimeoutMs: number;
}

/** When too few of the newest letters are found, because others were removed, the search reaches this many times further back. */
const stride = 4;

/** Dead letters in the stream DEAD, which drops the oldest beyond its bounds. The same id within two minutes is stored once. */
export const openDeadLetters = async (options: DeadLettersOptions): Promise<DeadLetters> => {
  const { connection, subjects, requestTimeoutMs: timeout } = options;
  const stream = streamNames(subjects.prefix).dead;
  const client = jetstream(connection, { timeout });
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout });
  const inbox = new ReplyInbox(connection);

  /** The letters with `from <= sequence <= to`, oldest first, without their messages. Removed ones leave gaps. */
  const range = async (from: number, to: number): Promise<ListedDeadLetter[]> => {
    const letters: ListedDeadLetter[] = [];
    for (let after = from - 1, more = true; more && after < to; ) {
      const count = Math.min(limits.readCommits, to - after);
      const batch = await readBatch(inbox, { stream, after, count, timeoutMs: timeout });
      for (const { seq, data } of batch.messages) {
        after = seq;
        const letter = seq <= to ? listedOrNull(seq, data) : null;
        if (letter !== null) letters.push(letter);
      }
      more = batch.more;
    }
    return letters;
  };

  return {
    put: async (letter) => {
      const kept = storable(letter);
      const bytes = deadLetterCodec.encode(kept);
      const msgID = escapeText(`${letter.service}:${letter.id}`);
      for (let attempt = 1; ; attempt++) {
        try {
          await client.publish(subjects.dead(letter.service, sourceOf(kept, subjects.prefix)), bytes, { msgID });
          return;
        } catch (error) {
          if (attempt === 3) throw toNatterError(error, 'store a dead letter');
        }
      }
    },
    list: async (limit, before = Number.POSITIVE_INFINITY) => {
      try {
        const { state } = await manager.streams.info(stream);
        const first = Math.max(1, state.first_seq);
        const newest: ListedDeadLetter[] = [];
        for (
          let to = Math.min(state.last_seq, before - 1), reach = limit;
          to >= first && newest.length < limit;
          reach *= stride
        ) {
          const from = Math.max(first, to - reach + 1);
          newest.push(...(await range(from, to)).reverse());
          to = from - 1;
        }
        return newest.slice(0, limit);
      } catch (error) {
        throw toNatterError(error, 'list the dead letters');
      }
    },
    get: async (seq) => {
      try {
        const { messages } = await readBatch(inbox, { stream, after: seq - 1, count: 1, timeoutMs: timeout });
        const letter = messages[0]?.seq === seq ? letterOrNull(messages[0].data) : null;
        return letter && { ...letter, seq };
      } catch (error) {
        throw toNatterError(error, 'read a dead letter');
      }
    },
    remove: async (seq) => {
      try {
        return await manager.streams.deleteMessage(stream, seq);
      } catch (error) {
        if (isGone(error)) return false;
        throw toNatterError(error, 'remove a dead letter');
      }
    },
    count: async (service) => {
      try {
        if (service === undefined) return (await manager.streams.info(stream)).state.messages;
        const { state } = await manager.streams.info(stream, { subjects_filter: subjects.deadLetters });
        const ofService = subjects.dead(service, '');
        return Object.entries(state.subjects ?? {}).reduce(
          (sum, [subject, letters]) => sum + (subject.startsWith(ofService) ? letters : 0),
          0,
        );
      } catch (error) {
        throw toNatterError(error, 'count the dead letters');
      }
    },
  };
};
