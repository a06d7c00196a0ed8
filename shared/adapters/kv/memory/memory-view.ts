import type { MemoryEntry } from '../../../domain/memory/memory-entry.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { MemoryView } from '../../../ports/memory-store.ts';
import { openBucketCopy } from '../bucket-copy.ts';
import type { Entry, KeyValue } from '../key-value.ts';
import { memoryItemOf, memoryPart } from './memory-item.ts';

/** A live, searchable copy of memory. Rejects with `unavailable` when the first load fails. */
export const createMemoryView = async (bucket: KeyValue, clock: Clock): Promise<MemoryView> => {
  // The database is loaded only when memory is watched.
  const { SearchIndex } = await import('./memory-search-index.ts');
  const empty = () => ({ index: new SearchIndex<MemoryEntry>(), gone: new Set<string>(), position: 0 });
  type Held = ReturnType<typeof empty>;

  const take = (held: Held, entry: Entry): void => {
    const item = memoryItemOf(entry);
    switch (item.kind) {
      case 'entry':
        if (!held.gone.has(item.entry.id)) held.index.set(item.entry);
        return;
      case 'gone':
        held.gone.add(item.id);
        return held.index.delete(item.id);
      case 'position':
        held.position = item.seq;
        return;
      case 'nothing':
    }
  };
  const { current, close } = await openBucketCopy(bucket, clock, { part: memoryPart, hinted: true, empty, take });
  return {
    get: (id) => current().index.get(id),
    list: (options) => current().index.list(options),
    search: (options) => current().index.search(options),
    gone: () => [...current().gone],
    position: () => current().position,
    close: async () => {
      await close();
      current().index.close();
    },
  };
};
