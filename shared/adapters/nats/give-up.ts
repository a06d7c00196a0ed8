import type { NatsConnection } from '@nats-io/transport-node';
import type { Subjects } from '../../wire/subjects.ts';
import { toNatterError } from './broker-errors.ts';
import { ReplyInbox, type Stored } from './reply-inbox.ts';

/** Messages on their way at a time. */
const atOnce = 256;

/**
 * Fills the end of the event stream up to at least the sequence `through`, so that no sequence of a lost commit is used again: ids of events,
 * of deliveries and of clients' positions are made of it (I13). May be called again. Throws `NatterError('unavailable')`.
 */
export const giveUpPlaces = async (
  connection: NatsConnection,
  { subjects, after, through, timeoutMs }: { subjects: Subjects; after: number; through: number; timeoutMs: number },
): Promise<void> => {
  const inbox = new ReplyInbox(connection);
  try {
    for (let last = after; last < through; ) {
      const places = Array.from({ length: Math.min(atOnce, through - last) }, () =>
        inbox.ask<Stored>(subjects.lost, '', { timeoutMs }),
      );
      last = Math.max(...(await Promise.all(places)).map(({ seq }) => seq));
    }
  } catch (error) {
    throw toNatterError(error, 'fill the event log');
  }
};
