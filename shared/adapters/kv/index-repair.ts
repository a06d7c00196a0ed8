import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import { NatterError } from '../../kit/errors.ts';
import { indexRowCodec, positionCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import { rowKey, rowOf, rowPart } from './index-row.ts';
import type { KeyValue } from './key-value.ts';
import { indexPositionKey } from './session-index.ts';

/** Rows read at a time. */
const readRows = 10_000;

/** Takes the session index back to a log that has lost its end. What it writes may be older than what is there: only a person asks for that. */
export const createIndexRepair = (bucket: KeyValue) => ({
  /** The sessions whose rows reflect more than the log up to `seq`. Throws `unavailable` while a replica lags: what it lacks would stay. */
  ahead: async (seq: number): Promise<readonly SessionKey[]> => {
    // No session has an empty key. A replica that has this has everything before it.
    const marker = (await bucket.put(bucketKey(rowPart, ''), null)) ?? Number.POSITIVE_INFINITY;
    const ahead = new Set<SessionKey>();
    for (let after = 0, more = true; more; ) {
      const read = await bucket.changes(rowPart, after, readRows);
      for (const row of read.entries.flatMap((entry) => rowOf(entry) ?? [])) if (row.seq > seq) ahead.add(row.key);
      after = read.entries.at(-1)?.revision ?? after;
      more = read.more;
      if (!more && after < marker)
        throw new NatterError('unavailable', 'a replica of the session index lags behind; try again', { retryAfterMs: 1_000 });
    }
    return [...ahead];
  },
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

export type IndexRepair = ReturnType<typeof createIndexRepair>;
