import { summarize } from '../../domain/projections/summary.ts';
import { isErasure } from '../../domain/session/chain.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import type { Clock } from '../../kit/clock.ts';
import type { IndexView, RowMarks } from '../../ports/session-index.ts';
import { openBucketCopy } from './bucket-copy.ts';
import { reflectsNoMoreThan, rowKey, rowOf, rowPart } from './index-row.ts';
import type { Entry, KeyValue } from './key-value.ts';
import { RecentRows } from './recent-rows.ts';

/** A live copy of all rows, ordered by their last change. Rejects with `unavailable` when the first load fails. */
export const openIndexView = async (bucket: KeyValue, clock: Clock, marks?: Partial<RowMarks>): Promise<IndexView> => {
  const empty = (): RecentRows => new RecentRows(marks);
  const { current, close } = await openBucketCopy(bucket, clock, { part: rowPart, hinted: false, empty, take });
  return {
    take: (commit) => fold(current(), commit),
    get: (key) => current().get(rowKey(key)),
    rows: () => current().rows(),
    newestFirst: (filter) => current().newestFirst(filter),
    close,
  };
};

/** A row that was folded here is ahead of the bucket's until that has followed, and the same when it has. */
const take = (rows: RecentRows, entry: Entry): void => {
  const known = rows.get(entry.key);
  if (known !== undefined && reflectsNoMoreThan(known.seq, entry)) return;
  const row = rowOf(entry);
  if (row === null) rows.delete(entry.key);
  else rows.set(entry.key, row);
};

const fold = (rows: RecentRows, commit: RecordedCommit): void => {
  const name = rowKey(commit.key);
  const before = rows.get(name) ?? null;
  const follows = (before?.rev ?? 0) === commit.rev - 1 || isErasure(commit);
  if (follows && commit.seq > (before?.seq ?? 0)) rows.set(name, summarize(before, commit));
};
