import { expect, test, vi } from 'vitest';
import { createInMemoryDeadLetters } from '../../../shared/adapters/in-memory/dead-letters.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { commandQueue } from '../../../shared/adapters/nats/queue/work-queue.ts';
import { placementOf } from '../../../shared/adapters/streams/rendezvous.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { CommandBus } from '../../../shared/ports/work-queue.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { startServer } from '../../support/nats.ts';
import { commandTo } from './work-queue.contract.ts';

/** As many partitions as the product has, so that what grows with each of them shows. */
const topology = topologyOf(subjectsUnder('handover'), { replicas: 1, partitions: 64 });
const slowPartitions = 12;

const queueOn = async (servers: string): Promise<{ queue: CommandBus; close(): Promise<void> }> => {
  const connection = await openConnection({ servers, name: 'hand-over', requestTimeoutMs: 2_000 });
  await provision(connection, topology);
  const deadLetters = createInMemoryDeadLetters({ clock: systemClock });
  const subjects = subjectsUnder('handover');
  const settings = { connection, subjects, topology, deadLetters, clock: systemClock, requestTimeoutMs: 2_000 };
  return { queue: commandQueue(settings), close: () => connection.close() };
};

/** Keys, one for each of the partitions that the newcomer is to have. */
const keysOf = (queue: CommandBus, newcomer: string, members: readonly string[]): string[] => {
  const keys = new Map<number, string>();
  for (let number = 0; keys.size < slowPartitions; number++) {
    const partition = queue.partitionOf(`key:${number}`);
    if (placementOf(members, partition).owner === newcomer && !keys.has(partition)) keys.set(partition, `key:${number}`);
  }
  return [...keys.values()];
};

test('a member that hands over many busy partitions, one after another, stays responsive (F27)', async () => {
  const server = await startServer();
  const old = await queueOn(server.url);
  const young = await queueOn(server.url);
  const keys = keysOf(old.queue, 'young', ['old', 'young']);
  const finish = new Map<string, () => void>();
  const lost: number[] = [];
  const first = await old.queue.consume({
    member: 'old',
    handle: async ({ message }) => {
      await new Promise<void>((resolve) => finish.set(message.key, resolve));
      return { kind: 'done' };
    },
    lost: (partition) => lost.push(partition),
  });
  await Promise.all(keys.map((key) => old.queue.publish(commandTo(key))));
  await vi.waitFor(() => expect(finish.size).toBe(keys.length));
  const second = await young.queue.consume({ member: 'young', handle: async () => ({ kind: 'done' }) });
  await vi.waitFor(() => expect(first.owned().length).toBeLessThan(64));

  const began = performance.now();
  for (const key of keys) {
    finish.get(key)?.();
    await vi.waitFor(() => expect(lost).toContain(old.queue.partitionOf(key)), { interval: 1 });
  }
  expect(performance.now() - began, 'ms for all of them').toBeLessThan(2_500);

  await Promise.all([first.close(0), second.close(0)]);
  await Promise.all([old.close(), young.close()]);
  await server.stop();
}, 90_000);

test('messages that meet the last requests of a leaving member go to the next one at once (F27)', async () => {
  const server = await startServer();
  const young = await queueOn(server.url);
  const keys = keysOf(young.queue, 'young', ['old', 'young']);
  /** How long the next member took to get all messages, and the most attempts: more than one if a last request met a message. */
  const leaveAndSend = async (): Promise<{ ms: number; attempts: number }> => {
    const old = await queueOn(server.url);
    const first = await old.queue.consume({ member: 'old', handle: async () => ({ kind: 'done' }) });
    await vi.waitFor(() => expect(first.owned()).toHaveLength(64));
    const closing = first.close();
    await vi.waitFor(() => expect(first.owned()).toEqual([]), { interval: 1 });

    const began = performance.now();
    await Promise.all(keys.map((key) => old.queue.publish(commandTo(key))));
    const handled = new Map<string, number>();
    const second = await young.queue.consume({
      member: 'young',
      handle: async ({ message, attempt }) => {
        handled.set(message.key, attempt);
        return { kind: 'done' };
      },
    });
    await vi.waitFor(() => expect(handled.size).toBe(keys.length), { interval: 5 });
    const ms = performance.now() - began;
    await Promise.all([closing, second.close()]);
    await old.close();
    return { ms, attempts: Math.max(...handled.values()) };
  };

  // Again where a slow machine sent after the last requests had ended, or stood still.
  await vi.waitFor(
    async () => {
      const { ms, attempts } = await leaveAndSend();
      expect(attempts, 'some were given back').toBeGreaterThan(1);
      expect(ms, 'ms, where an ack wait is 3,000').toBeLessThan(2_500);
    },
    { timeout: 60_000 },
  );
  await young.close();
  await server.stop();
}, 90_000);
