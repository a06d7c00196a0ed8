import { expect, test } from 'vitest';
import type { PullEvents, Pulled, PullStream } from '../../../../shared/adapters/nats/pull-stream.ts';
import { Partition } from '../../../../shared/adapters/nats/queue/partition.ts';
import type { PartitionHost } from '../../../../shared/adapters/nats/queue/partition-host.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';

test('a message that the broker hands to a leaving member after taking its pin is given back after a second unpin, and nothing is requested', async () => {
  const seen: string[] = [];
  let events: PullEvents | undefined;
  const message: Pulled = {
    ...{ subject: 's', bytes: new Uint8Array(), traceparent: undefined, seq: 1, deliveries: 1, storedAt: 0 },
    answer: (kind) => void seen.push(kind),
  };
  const host: Partial<PartitionHost<object>> = {
    clock: systemClock,
    openPull: (_partition, given) => {
      events = given;
      return { pinned: true, stop: () => seen.push('stop'), end: async () => {} } as unknown as PullStream;
    },
    unpin: async () => {
      seen.push('unpin');
      if (seen.length === 2) events?.message(message);
      return true;
    },
  };
  const partition = new Partition(3, host as PartitionHost<object>);
  partition.open();
  await partition.release(1_000);
  expect(seen).toEqual(['stop', 'unpin', 'unpin', 'again']);
});
