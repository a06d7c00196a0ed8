import { NatsConnectionImpl } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { Protocol } from '../../../../shared/adapters/nats/client/protocol.ts';
import { ReplyInbox } from '../../../../shared/adapters/nats/client/reply-inbox.ts';
import {
  AtomicPublisher,
  publishTogether,
  type StreamMessage,
} from '../../../../shared/adapters/nats/publish/atomic-publisher.ts';

/** The client's connection with our protocol, to a broker that answers nothing; and what it wrote to the socket, a line for each write. */
const connected = () => {
  const writes: string[] = [];
  const connection: NatsConnectionImpl = Object.create(NatsConnectionImpl.prototype);
  const protocol = new Protocol({ servers: 'broker' }, connection);
  const transport = { send: (bytes: Uint8Array) => writes.push(String(Buffer.from(bytes))) };
  Object.assign(protocol, { connected: true, infoReceived: true, info: { headers: true }, transport });
  Object.assign(connection, { options: { inboxPrefix: '_INBOX' }, protocol });
  const inbox = new ReplyInbox(connection);
  inbox.flush();
  writes.length = 0;
  return { inbox, writes };
};

const message = (key: string): StreamMessage => ({
  ...{ key, bytes: 1, subject: `to.${key}`, payload: Buffer.from(key), headers: { Mine: key } },
});
const timeoutMs = 600_000;
const ungroupedHere = { from: 9, singles: 9 };

test('what is published alone is written at once, and what is published together in one write', async () => {
  const { inbox, writes } = connected();
  const publisher = new AtomicPublisher({ inbox, clock: { monotonic: () => 0 }, timeoutMs, grouping: ungroupedHere });
  const published = async (...keys: string[]): Promise<number> => {
    for (const key of keys) void publisher.publish(message(key)).catch(() => {});
    // The publisher sends in this turn of the event loop, before us; the protocol by itself only in the next one.
    await new Promise(setImmediate);
    return writes.length;
  };
  expect(await published('a')).toBe(1);
  expect(await published('b', 'c')).toBe(1);
  await new Promise(setImmediate);
  expect(writes).toHaveLength(2);
  expect(writes.map((write) => write.match(/PUB to\.\w/g)?.join())).toEqual(['PUB to.a', 'PUB to.b,PUB to.c']);
});

test('messages of one batch are numbered, and the last one asks for all or none of them', async () => {
  const { inbox, writes } = connected();
  void publishTogether(inbox, ['a', 'b', 'c'].map(message), timeoutMs).catch(() => {});
  inbox.flush();
  const sent = writes.join('').split('HPUB ').slice(1);
  const [first] = sent.map((text) => /Nats-Batch-Id: ?(\S+)/.exec(text)?.[1]);
  expect(first).toBeTruthy();
  const told = sent.map((text) => ({
    to: /^\S+/.exec(text)?.[0],
    headers: [...text.matchAll(/^(Mine|Nats-Batch-\w+): ?(\S+)\r$/gm)].map(([, name, value]) => [name, value]),
    asks: text.includes('_INBOX.'),
  }));
  expect(told).toEqual(
    ['a', 'b', 'c'].map((key, index) => ({
      to: `to.${key}`,
      headers: [
        ['Mine', key],
        ['Nats-Batch-Id', first],
        ['Nats-Batch-Sequence', String(index + 1)],
        ...(index === 2 ? [['Nats-Batch-Commit', '1']] : []),
      ],
      asks: index === 2,
    })),
  );
});
