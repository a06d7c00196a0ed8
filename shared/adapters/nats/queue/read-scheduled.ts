import type { Scheduled, WorkQueue } from '../../../ports/work-queue.ts';
import type { QueueBinding } from '../../streams/queue-binding.ts';
import { StreamMessages, type StreamMessagesOptions } from '../client/stream-messages.ts';

interface ReadScheduled<T> extends Omit<StreamMessagesOptions, 'stream' | 'count'> {
  readonly binding: QueueBinding<T>;
}

/** Messages of one read. */
const count = 256;

/** See `WorkQueue`. Cancelled ones are still there for a moment, without bytes; what cannot be read is left out. */
export const readScheduled = async <T>(
  { binding, ...options }: ReadScheduled<T>,
  of: Parameters<WorkQueue<T>['scheduled']>[0],
  limit: number,
): Promise<readonly Scheduled<T>[]> => {
  const found: Scheduled<T>[] = [];
  for await (const { subject, data } of new StreamMessages({ ...options, stream: binding.timerStream, count }).of(
    binding.timersOf(of),
  )) {
    try {
      if (data.length > 0) found.push({ name: binding.nameOfTimer(subject), message: binding.decode(data) });
    } catch {}
    if (found.length === limit) break;
  }
  return found;
};
