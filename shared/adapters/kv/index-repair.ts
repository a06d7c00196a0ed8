import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import { indexRowCodec, positionCodec } from '../../wire/records.ts';
import { rowKey } from './index-row.ts';
import type { KeyValue } from './key-value.ts';
import { indexPositionKey } from './session-index.ts';

/** Takes the session index back to a log that has lost its end. What it writes may be older than what is there: only a person asks for that. */
export const createIndexRepair = (bucket: KeyValue) => ({
  /** Replaces a row, or removes it. */
  replace: async (key: SessionKey, row: IndexRow | null): Promise<void> => {
    await bucket.put(rowKey(key), row && indexRowCodec.encode(row));
  },
  /** Lowers the position of the index to `seq` if it is greater. */
  lower: async (seq: number): Promise<void> => {
    const { value } = await bucket.read(indexPositionKey);
    if (value !== null && positionCodec.decode(value).seq > seq)
      await bucket.put(indexPositionKey, positionCodec.encode({ seq }));
  },
});
