import { type FencedWrite, type WriteState, writeFenced } from './fenced-write.ts';
import type { Entry, PutOptions } from './key-value.ts';

export interface EntryWrite {
  readonly key: string;
  readonly value: Uint8Array | null;
  readonly fence: PutOptions['fence'];
  readonly send: FencedWrite['send'];
  /** Reads from the leader. */
  read(key: string): Promise<Entry>;
  readonly doing: string;
}

/** `KeyValue.put` for any store that can send a write and read from the leader. */
export const putEntry = ({ key, value, fence, send, read, doing }: EntryWrite): Promise<number | null> => {
  const before = fence?.key === key ? fence.revision : 0;
  const resolve = async (): Promise<WriteState> => {
    const entry = await read(key);
    if (entry.revision > before && sameBytes(entry.value, value)) return { kind: 'ours', seq: entry.revision };
    if (fence === undefined) return { kind: 'open' };
    const fenced = fence.key === key ? entry : await read(fence.key);
    return { kind: fenced.revision === fence.revision ? 'open' : 'taken' };
  };
  return writeFenced({ send, resolve, doing });
};

const sameBytes = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one === null || other === null ? one === other : Buffer.compare(one, other) === 0;
