import type { Clock } from '../../kit/clock.ts';
import type { IndexView, RowMarks } from '../../ports/session-index.ts';
import { openBucketCopy } from './bucket-copy.ts';
import { rowKey, rowOf, rowPart } from './index-row.ts';
import type { Entry, KeyValue } from './key-value.ts';
import { RecentRows } from './recent-rows.ts';

/** A live copy of all rows, ordered by their last change. Rejects with `unavailable` when the first load fails. */
export const openIndexView = async (bucket: KeyValue, clock: Clock, marks?: Partial<RowMarks>): Promise<IndexView> => {
  const empty = (): RecentRows => new RecentRows(marks);
  const { current, close } = await openBucketCopy(bucket, clock, { part: rowPart, empty, take });
  return {
    get: (key) => current().get(rowKey(key)),
    rows: () => current().rows(),
    newestFirst: (filter) => current().newestFirst(filter),
    close,
  };
};

const take = (rows: RecentRows, entry: Entry): void => {
  const row = rowOf(entry);
  if (row === null) rows.delete(entry.key);
  else rows.set(entry.key, row);
};
