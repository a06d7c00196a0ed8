import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import { decode } from '../../wire/codec.ts';
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

/** True if the row of an entry reflects the log up to `seq` at most. Looks at nothing else: to check all of a row is most of its work. */
export const reflectsNoMoreThan = (seq: number, { value }: Entry): boolean => {
  if (value === null) return false;
  try {
    return (decode(value) as Pick<IndexRow, 'seq'>).seq <= seq;
  } catch {
    return false;
  }
};
