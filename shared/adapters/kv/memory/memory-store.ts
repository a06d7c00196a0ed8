import type { MemoryEntry } from '../../../domain/memory/memory-entry.ts';
import type { Clock } from '../../../kit/clock.ts';
import { NatterError } from '../../../kit/errors.ts';
import { limits } from '../../../kit/limits.ts';
import type { MemoryStore } from '../../../ports/memory-store.ts';
import { memoryCodec, positionCodec } from '../../../wire/records.ts';
import type { KeyValue } from '../key-value.ts';
import { entryKey, goneKey, goneMark, memoryItemOf, positionKey } from './memory-item.ts';
import { createMemoryView } from './memory-view.ts';

/** Concurrent writes. */
const writesAtOnce = 64;

/**
 * Long-term memory in a bucket that waits for the disk: `memory.entry.<id>`, `memory.gone.<id>` and `memory.position`. A
 * forgotten memory keeps its mark for ever, so that reading the log again does not bring it back, even if its session has been
 * erased since. Entries are written before the position that covers them, and a position replaces only the one read last: of two
 * writers, one starts over.
 */
export const createMemoryStore = (bucket: KeyValue, clock: Clock): MemoryStore => {
  let positionRevision = 0;

  const readEntry = async (id: string): Promise<{ entry: MemoryEntry | null; revision: number }> => {
    const stored = await bucket.read(entryKey(id));
    const item = memoryItemOf(stored);
    return { entry: item.kind === 'entry' ? item.entry : null, revision: stored.revision };
  };
  const isGone = async (id: string): Promise<boolean> => (await bucket.read(goneKey(id))).value !== null;

  const putEntry = async (entry: MemoryEntry): Promise<void> => {
    if (await isGone(entry.id)) return;
    const key = entryKey(entry.id);
    for (let attempt = 0; attempt <= limits.fencedRetries; attempt++) {
      const stored = await readEntry(entry.id);
      if (stored.entry !== null && stored.entry.source.seq >= entry.source.seq) return;
      const fence = { key, revision: stored.revision };
      if ((await bucket.put(key, memoryCodec.encode(entry), { fence })) !== null) return;
    }
    throw new NatterError('unavailable', `other writers keep changing the memory ${entry.id}`, { retryAfterMs: 1_000 });
  };

  return {
    get: async (id) => ((await isGone(id)) ? null : (await readEntry(id)).entry),
    put: async ({ entries, gone }, position) => {
      const writes = [
        ...entries.map((entry) => () => putEntry(entry)),
        ...gone.map((id) => async () => void (await bucket.put(goneKey(id), goneMark))),
      ].values();
      const worker = async (): Promise<void> => {
        for (const write of writes) await write();
      };
      await Promise.all(Array.from({ length: Math.min(writesAtOnce, entries.length + gone.length) }, worker));
      const fence = { key: positionKey, revision: positionRevision };
      const revision = await bucket.put(positionKey, positionCodec.encode({ seq: position }), { fence });
      if (revision === null) {
        throw new NatterError('unavailable', 'another process has written the memory; start again from its position', {
          retryAfterMs: 0,
        });
      }
      positionRevision = revision;
    },
    position: async () => {
      const { revision, value } = await bucket.read(positionKey);
      positionRevision = revision;
      return value === null ? 0 : positionCodec.decode(value).seq;
    },
    reset: async () => {
      await bucket.put(positionKey, positionCodec.encode({ seq: 0 }));
    },
    watch: () => createMemoryView(bucket, clock),
  };
};
