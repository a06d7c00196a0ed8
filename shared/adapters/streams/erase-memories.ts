import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Entry, KeyValue } from '../kv/key-value.ts';
import { goneKey, goneMark, memoryItemOf, memoryPart, positionKey } from '../kv/memory/memory-item.ts';

/** Entries per read, and how long the projection may take to reach the erasure. */
const readEntries = 1_000;
const reachMs = 5_000;
const lookMs = 50;

/**
 * Waits until the memory projection has passed the erasure, so that it writes nothing of the session afterwards. If the
 * projection is not running nothing is written, and when it returns it finds only the erasure in the log.
 */
export const memoryReaches = async (bucket: KeyValue, clock: Clock, seq: number): Promise<void> => {
  const until = clock.monotonic() + reachMs;
  while (clock.monotonic() < until) {
    const item = memoryItemOf(await bucket.read(positionKey));
    if (item.kind === 'position' && item.seq >= seq) return;
    await clock.sleep(lookMs);
  }
};

/**
 * Marks memories as forgotten whether or not they exist: a delayed writer may be about to write them, although the log no longer
 * has them.
 */
export const markGone = async (bucket: KeyValue, ids: readonly string[]): Promise<void> => {
  for (const id of ids) await bucket.put(goneKey(id), goneMark);
};

/**
 * Removes all memories that the session contributed to before a sequence, each after it was marked as forgotten. Returns their
 * number.
 */
export const eraseMemories = async (
  bucket: KeyValue,
  key: SessionKey,
  before: number,
  remove: (entry: Entry) => Promise<void>,
): Promise<number> => {
  let removed = 0;
  for (let after = 0, more = true; more; ) {
    const page = await bucket.changes(memoryPart, after, readEntries);
    for (const stored of page.entries) {
      const item = memoryItemOf(stored);
      if (item.kind !== 'entry' || !item.entry.changes.some((place) => place.key === key && place.seq < before)) continue;
      await markGone(bucket, [item.entry.id]);
      await remove(stored);
      removed++;
    }
    after = page.entries.at(-1)?.revision ?? after;
    more = page.more;
  }
  return removed;
};
