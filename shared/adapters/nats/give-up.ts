import type { NatsConnection } from '@nats-io/transport-node';
import { toNatterError } from './client/broker-errors.ts';
import { ReplyInbox, type Stored } from './client/reply-inbox.ts';

/** Messages on their way at a time. */
const atOnce = 256;

/**
 * Fills the end of a stream with empty messages up to at least the sequence `through`, so that no lost one is used again: in the log, ids of
 * events, of deliveries and of clients' positions are made of it (I13). May be called again. Throws `NatterError('unavailable')`.
 */
export const giveUpPlaces = async (
  connection: NatsConnection,
  { subject, after, through, timeoutMs }: { subject: string; after: number; through: number; timeoutMs: number },
): Promise<void> => {
  const inbox = new ReplyInbox(connection);
  try {
    for (let last = after; last < through; ) {
      const places = Array.from({ length: Math.min(atOnce, through - last) }, () =>
        inbox.ask<Stored>(subject, '', { timeoutMs }),
      );
      last = Math.max(...(await Promise.all(places)).map(({ seq }) => seq));
    }
  } catch (error) {
    throw toNatterError(error, 'fill the end of the stream');
  }
};
