import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { escapeText } from '../../kit/escape-text.ts';
import type { DeadLetter, DeadLetters } from '../../ports/dead-letters.ts';
import { deadLetterCodec } from '../../wire/records.ts';
import type { Subjects } from '../../wire/subjects.ts';
import { streamNames } from '../../wire/topology.ts';
import { letterOrNull, storable } from '../streams/dead-letter.ts';
import { toNatterError } from './broker-errors.ts';
import { readBatch } from './direct-batch.ts';
import { ReplyInbox } from './reply-inbox.ts';

export interface DeadLettersOptions {
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  readonly requestTimeoutMs: number;
}

/** Dead letters in the stream DEAD, kept until somebody removes them. The same id within two minutes is stored once. */
export const openDeadLetters = async (options: DeadLettersOptions): Promise<DeadLetters> => {
  const { connection, subjects, requestTimeoutMs: timeout } = options;
  const stream = streamNames(subjects.prefix).dead;
  const client = jetstream(connection, { timeout });
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout });
  const inbox = new ReplyInbox(connection);

  /** The letters with `from <= sequence <= to`, oldest first. Removed ones leave gaps. */
  const range = async (from: number, to: number): Promise<DeadLetter[]> => {
    const letters: DeadLetter[] = [];
    for (let after = from - 1, more = true; more && after < to; ) {
      const batch = await readBatch(inbox, { stream, after, count: to - after, timeoutMs: timeout });
      for (const { seq, data } of batch.messages) {
        after = seq;
        const letter = seq <= to ? letterOrNull(data) : null;
        if (letter !== null) letters.push(letter);
      }
      more = batch.more;
    }
    return letters;
  };

  return {
    put: async (letter) => {
      const bytes = deadLetterCodec.encode(storable(letter));
      const msgID = escapeText(`${letter.service}:${letter.id}`);
      for (let attempt = 1; ; attempt++) {
        try {
          await client.publish(subjects.dead(letter.service), bytes, { msgID });
          return;
        } catch (error) {
          if (attempt === 3) throw toNatterError(error, 'store a dead letter');
        }
      }
    },
    list: async (limit) => {
      try {
        const { state } = await manager.streams.info(stream);
        const newest: DeadLetter[] = [];
        for (let to = state.last_seq; to >= state.first_seq && to > 0 && newest.length < limit; to -= limit)
          newest.push(...(await range(Math.max(1, to - limit + 1), to)).reverse());
        return newest.slice(0, limit);
      } catch (error) {
        throw toNatterError(error, 'list the dead letters');
      }
    },
    count: async () => {
      try {
        return (await manager.streams.info(stream)).state.messages;
      } catch (error) {
        throw toNatterError(error, 'count the dead letters');
      }
    },
  };
};
