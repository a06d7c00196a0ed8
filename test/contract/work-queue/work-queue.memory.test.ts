import { describe, expect, test, vi } from 'vitest';
import { createInMemoryDeadLetters } from '../../../shared/adapters/in-memory/dead-letters.ts';
import { type Fault, type Faults, type FaultyCall, noFaults } from '../../../shared/adapters/in-memory/faults.ts';
import { InMemoryWorkQueue } from '../../../shared/adapters/in-memory/work-queue.ts';
import { commandBinding } from '../../../shared/adapters/streams/queue-binding.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { AckOutcome } from '../../../shared/ports/work-queue.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { commandTo, queuePartitions, workQueueContract } from './work-queue.contract.ts';

workQueueContract('memory', async () => ({
  queue: async () => {
    const clock = systemClock;
    const deadLetters = createInMemoryDeadLetters({ clock });
    const binding = commandBinding(subjectsUnder('natter'), queuePartitions);
    const queue = new InMemoryWorkQueue({ clock, binding, deadLetters, partitions: queuePartitions });
    return {
      deadLetters,
      handOverMs: 1_500,
      takeoverMs: 6_000,
      process: async () => ({ queue, kill: async (member) => queue.crash(member) }),
      inject: async (key, bytes) => queue.inject(key, bytes),
      stored: async () => queue.stored,
      forgetPositions: async () => void queue.forgetPositions(),
      close: async () => {},
    };
  },
  close: async () => {},
}));

describe('work queue in memory: what only it can do on demand', () => {
  const binding = commandBinding(subjectsUnder('natter'), queuePartitions);
  const create = (faults: Faults = noFaults) => {
    const clock = systemClock;
    const deadLetters = createInMemoryDeadLetters({ clock });
    const times = { ackWaitMs: 150, pinMs: 100, requestTimeoutMs: 20 };
    return new InMemoryWorkQueue({ clock, binding, deadLetters, partitions: queuePartitions, faults, ...times });
  };
  const failing = (call: FaultyCall, ...fates: Fault[]): Faults => ({
    next: (asked) => ({ ...noFaults.next(asked), fault: asked === call ? (fates.shift() ?? 'none') : 'none' }),
  });

  test('a stopped process loses its partitions, goes on believing when it wakes, and its late word does not count (F2)', async () => {
    const queue = create();
    const calls: string[] = [];
    const finish = new Map<string, (verdict: AckOutcome) => void>();
    const start = (member: string) =>
      queue.consume({
        member,
        handle: ({ message, attempt }) => {
          calls.push(`${member} handles ${message.id} attempt ${attempt}`);
          return new Promise((resolve) => finish.set(`${member} ${message.id}`, resolve));
        },
        lost: (partition) => calls.push(`${member} lost ${partition}`),
      });
    const a = await start('a');
    await start('b');
    const partition = a.owned()[0] ?? -1;
    const key = [...Array(1_000).keys()].map(String).find((candidate) => queue.partitionOf(candidate) === partition) ?? '';
    await queue.publish(commandTo(key, 'one'));
    await queue.publish(commandTo(key, 'two'));
    await vi.waitFor(() => expect(calls).toContain('a handles one attempt 1'));
    calls.length = 0;
    queue.pause('a');
    await vi.waitFor(() => expect(calls).toEqual(['b handles one attempt 2']));
    expect(a.owned()).toContain(partition);
    queue.resume('a');
    finish.get('a one')?.({ kind: 'done' });
    await vi.waitFor(() => expect(calls).toContain(`a lost ${partition}`));
    expect(calls).not.toContain('b handles two attempt 1');
    expect(await queue.lag()).toBe(2);
    // It is a member again, so the partition goes back to it as soon as `b` has finished what it has in hand.
    finish.get('b one')?.({ kind: 'done' });
    await vi.waitFor(() => expect(calls).toContain('a handles two attempt 1'));
  });

  test('a lost acknowledgement brings the message again, and nothing newer before', async () => {
    const queue = create(failing('acknowledge', 'answer_lost'));
    const seen: string[] = [];
    await queue.consume({
      member: 'a',
      handle: async ({ message, attempt }) => {
        seen.push(`${message.id} ${attempt}`);
        return { kind: 'done' };
      },
    });
    await queue.publish(commandTo('k', 'one'));
    await queue.publish(commandTo('k', 'two'));
    await vi.waitFor(() => expect(seen).toEqual(['one 1', 'one 2', 'two 1']));
  });

  test('a publish without an answer may be stored or not; the same id again is safe (I2)', async () => {
    const queue = create(failing('publish', 'answer_lost', 'request_lost', 'unavailable'));
    const stored = commandTo('k', 'stored');
    await expect(queue.publish(stored)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await queue.publish(commandTo('k', 'not stored')).catch(({ code }) => code)).toBe('unavailable');
    expect(await queue.publish(commandTo('k', 'nor this')).catch(({ code }) => code)).toBe('unavailable');
    expect(await queue.lag()).toBe(1);
    expect(await queue.publish(stored)).toMatchObject({ duplicate: true });
  });

  test('a full queue refuses (I11)', async () => {
    const deadLetters = createInMemoryDeadLetters({ clock: systemClock });
    const queue = new InMemoryWorkQueue({
      clock: systemClock,
      binding,
      deadLetters,
      partitions: queuePartitions,
      maxMessages: 2,
    });
    await queue.publish(commandTo('a'));
    await queue.publish(commandTo('b'));
    await expect(queue.publish(commandTo('c'))).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 1_000 });
  });
});
