import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import { indexRowCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import type { Entry } from './key-value.ts';

/** The part of the index bucket that holds the rows. */
export const rowPart = 'session';
export const rowKey = (key: SessionKey): string => bucketKey(rowPart, key);

/** The row of an entry. An unreadable row counts as missing: the projection writes it again. */
export const rowOf = ({ value }: Entry): IndexRow | null => {
  if (value === null) return null;
  try {
    return indexRowCodec.decode(value);
  } catch {
    return null;
  }
};
