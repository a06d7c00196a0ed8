import type { NatsConnection } from '@nats-io/transport-node';
import { bucketNames } from '../../wire/topology.ts';
import { toNatterError } from './client/broker-errors.ts';
import { readBatch } from './client/direct-read.ts';
import { ReplyInbox, type Stored } from './client/reply-inbox.ts';

/** Snapshots that are read at a time. */
const atOnce = 64;

/**
 * Removes the snapshots of all sessions: after a loss that a person has accepted (I13), one that has seen lost commits would set its session
 * aside as damaged (F13). They are caches: each session is read from the log once. May be called again. Throws `NatterError('unavailable')`.
 */
export const dropSnapshots = async (
  connection: NatsConnection,
  { prefix, timeoutMs }: { prefix: string; timeoutMs: number },
): Promise<void> => {
  const inbox = new ReplyInbox(connection);
  const stream = `KV_${bucketNames(prefix).snapshots}`;
  // Marks a removed key for other key-value clients.
  const headers = { 'KV-Operation': 'DEL' };
  try {
    for (let after = 0, rest = true; rest; ) {
      const { messages, more } = await readBatch(inbox, { stream, after, count: atOnce, timeoutMs });
      const present = messages.filter(({ data }) => data.length > 0);
      await Promise.all(present.map(({ subject }) => inbox.ask<Stored>(subject, '', { timeoutMs, headers })));
      after = messages.at(-1)?.seq ?? after;
      rest = more;
    }
  } catch (error) {
    throw toNatterError(error, 'remove the snapshots');
  }
};
