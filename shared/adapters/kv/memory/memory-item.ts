import type { MemoryEntry } from '../../../domain/memory/memory-entry.ts';
import { memoryCodec, positionCodec } from '../../../wire/records.ts';
import { bucketKey } from '../../../wire/subjects.ts';
import type { Entry } from '../key-value.ts';

/** One part for everything: a reader that has the position also has everything the position covers. */
export const memoryPart = 'memory';
const entryPrefix = `${bucketKey(memoryPart, 'entry')}.`;
const gonePrefix = `${bucketKey(memoryPart, 'gone')}.`;
export const entryKey = (id: string): string => bucketKey(memoryPart, 'entry', id);
export const goneKey = (id: string): string => bucketKey(memoryPart, 'gone', id);
export const positionKey = bucketKey(memoryPart, 'position');
/** Marks a forgotten memory. */
export const goneMark = positionCodec.encode({ seq: 0 });

export type MemoryItem =
  | { readonly kind: 'entry'; readonly entry: MemoryEntry }
  | { readonly kind: 'gone'; readonly id: string }
  | { readonly kind: 'position'; readonly seq: number }
  | { readonly kind: 'nothing' };

/** Decodes an entry of the bucket. An unreadable one counts as `nothing`: the projection can write it again. */
export const memoryItemOf = ({ key, value }: Entry): MemoryItem => {
  if (value === null) return { kind: 'nothing' };
  try {
    if (key === positionKey) return { kind: 'position', seq: positionCodec.decode(value).seq };
    if (key.startsWith(gonePrefix)) return { kind: 'gone', id: key.slice(gonePrefix.length) };
    if (key.startsWith(entryPrefix)) return { kind: 'entry', entry: memoryCodec.decode(value) };
  } catch {}
  return { kind: 'nothing' };
};
