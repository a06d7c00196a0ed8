import type { KeyValue } from '../key-value.ts';
import type { LogGuard } from './log-guard.ts';
import type { QueueGuard } from './queue-guard.ts';

/**
 * A bucket of facts that are nowhere else: while it has gone back to an older copy it is neither read nor written (I13). A token that was
 * revoked since would be valid again.
 */
export const guardedBucket = (bucket: KeyValue, guard: QueueGuard | undefined): KeyValue => {
  if (guard === undefined) return bucket;
  const checked = async <T>(read: () => Promise<T>): Promise<T> => {
    await guard.check();
    return read();
  };
  return {
    read: (key) => checked(() => bucket.read(key)),
    peek: (key) => checked(() => bucket.peek(key)),
    changes: (part, after, limit) => checked(() => bucket.changes(part, after, limit)),
    hint: (filter, wake) => bucket.hint(filter, wake),
    info: () => bucket.info(),
    put: async (key, value, options) => {
      let revision: number | null = null;
      await guard.store(async () => {
        revision = await bucket.put(key, value, options);
        return revision === null ? { seq: 0, duplicate: true } : { seq: revision };
      });
      return revision;
    },
  };
};

/**
 * A bucket of what is derived from the log: nothing is written to it while the log has gone back. A process that worked with the lost part
 * would, after a person has accepted the loss, write back what that had removed from the caches.
 */
export const guardedCache = (bucket: KeyValue, guard: Pick<LogGuard, 'check'>): KeyValue => ({
  read: (key) => bucket.read(key),
  peek: (key) => bucket.peek(key),
  changes: (part, after, limit) => bucket.changes(part, after, limit),
  hint: (filter, wake) => bucket.hint(filter, wake),
  info: () => bucket.info(),
  put: async (key, value, options) => {
    await guard.check();
    return bucket.put(key, value, options);
  },
});
