import { createMemoryDeadLetters } from '../../shared/adapters/memory/dead-letters.ts';
import { MemoryWorkQueue } from '../../shared/adapters/memory/work-queue.ts';
import { commandBinding } from '../../shared/adapters/queue-binding.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { queuePartitions, workQueueContract } from './work-queue.contract.ts';

workQueueContract('memory', async () => ({
  queue: async () => {
    const clock = systemClock;
    const deadLetters = createMemoryDeadLetters({ clock });
    const binding = commandBinding(subjectsUnder('natter'), queuePartitions);
    const queue = new MemoryWorkQueue({ clock, binding, deadLetters, partitions: queuePartitions });
    return {
      deadLetters,
      handOverMs: 100,
      takeoverMs: 6_000,
      process: async () => ({ queue, kill: async (member) => queue.crash(member) }),
      inject: async (key, bytes) => queue.inject(key, bytes),
      close: async () => {},
    };
  },
  close: async () => {},
}));
