import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Entry, KeyValue } from '../kv/key-value.ts';
import { goneKey, goneMark, memoryItemOf, memoryPart, positionKey } from '../kv/memory-item.ts';

/** Entries of one read, and how long the projection may take to come as far as the erasure. */
const readEntries = 1_000;
const reachMs = 5_000;
const lookMs = 50;

/**
 * Waits for whoever writes the memory: what it is about to write of the session must not come after the erasure. While it is away nothing is
 * written, and what it finds in the log when it is back is the erasure alone.
 */
export const memoryReaches = async (bucket: KeyValue, clock: Clock, seq: number): Promise<void> => {
  const until = clock.monotonic() + reachMs;
  while (clock.monotonic() < until) {
    const item = memoryItemOf(await bucket.read(positionKey));
    if (item.kind === 'position' && item.seq >= seq) return;
    await clock.sleep(lookMs);
  }
};

/** Marks memories as gone whether they are there or not: somebody who was held up may be about to write them, and does not find them in the log. */
export const markGone = async (bucket: KeyValue, ids: readonly string[]): Promise<void> => {
  for (const id of ids) await bucket.put(goneKey(id), goneMark);
};

/** Removes all memories that the session had a part in before a sequence, each after a mark that it is gone. Gives their number. */
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
