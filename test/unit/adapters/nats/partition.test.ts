import { expect, test, vi } from 'vitest';
import type { PullEvents, Pulled, PullStream } from '../../../../shared/adapters/nats/pull-stream.ts';
import { Partition } from '../../../../shared/adapters/nats/queue/partition.ts';
import type { PartitionHost } from '../../../../shared/adapters/nats/queue/partition-host.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { AckOutcome } from '../../../../shared/ports/work-queue.ts';

/** An open partition, and what it says to the broker: each message is `k`, recorded when `handle` resolves. */
const opened = (handle: () => Promise<void> = async () => {}, unpinned: () => void = () => {}) => {
  const seen: string[] = [];
  let events: PullEvents | undefined;
  const binding = { decode: () => 'k', keyOf: () => 'k', partitionOf: () => 3, subjectOf: () => 's' };
  const host: Partial<PartitionHost<string>> = {
    ...{ clock: systemClock, done: null, isIn: () => true, incarnation: async () => 1 },
    binding: binding as unknown as PartitionHost<string>['binding'],
    options: { member: 'a', handle: () => handle().then((): AckOutcome => ({ kind: 'recorded' })) },
    openPull: (_partition, given) => {
      events = given;
      const pull = { pinned: true, stop: () => seen.push('stop'), end: async () => {}, tick: () => seen.push('tick') };
      return pull as unknown as PullStream;
    },
    unpin: async () => {
      seen.push('unpin');
      unpinned();
      return true;
    },
  };
  const partition = new Partition(3, host as PartitionHost<string>);
  partition.open();
  const arrive = (seq: number): void => {
    const message: Omit<Pulled, 'answer'> = { subject: 's', bytes: new Uint8Array(), seq, deliveries: 1, storedAt: 0 };
    events?.message({ ...message, answer: (kind) => void seen.push(`${kind} ${seq}`) });
  };
  return { partition, seen, arrive };
};

test('a message that the broker hands to a leaving member after taking its pin is given back after a second unpin, and nothing is requested', async () => {
  let handed = false;
  const { partition, seen, arrive } = opened(undefined, () => {
    if (!handed) arrive(1);
    handed = true;
  });
  expect(await partition.release(1_000, () => true)).toBe(true);
  expect(seen).toEqual(['stop', 'unpin', 'unpin', 'again 1']);
});

test('a partition that may not go after its message, or before the end of one that takes long, is served on', async () => {
  const inHand: (() => void)[] = [];
  const { partition, seen, arrive } = opened(() => new Promise((resolve) => inHand.push(resolve)));
  arrive(1);
  const asked: boolean[] = [];
  const mayNot = (isIdle: boolean): boolean => asked.push(isIdle) === 0;
  expect(await partition.release(1, mayNot)).toBe(false);
  await vi.waitFor(() => expect(inHand).toHaveLength(1));
  const finished = partition.release(60_000, mayNot);
  inHand[0]?.();
  expect(await finished).toBe(false);
  expect({ asked, seen, held: partition.held }).toEqual({ asked: [false, true], seen: ['done 1'], held: true });

  arrive(2);
  const released = partition.release(60_000, () => true);
  await vi.waitFor(() => expect(inHand).toHaveLength(2));
  inHand[1]?.();
  expect(await released).toBe(true);
  expect(seen).toEqual(['done 1', 'stop', 'unpin', 'done 2']);
});

test('a partition that finishes its message before it goes looks after its requests meanwhile: it may have to stay', async () => {
  const inHand: (() => void)[] = [];
  const { partition, seen, arrive } = opened(() => new Promise((resolve) => inHand.push(resolve)));
  arrive(1);
  const released = partition.release(60_000, () => true);
  await vi.waitFor(() => expect(inHand).toHaveLength(1));
  partition.tick(true);
  expect(seen).toEqual(['tick']);
  inHand[0]?.();
  expect(await released).toBe(true);
});
