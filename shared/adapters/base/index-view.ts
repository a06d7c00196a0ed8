import type { Clock, IndexView, RowMarks } from '../../ports.ts';
import { rowKey, rowOf, rowPart } from './index-row.ts';
import type { Entry, KeyValue } from './key-value.ts';
import { createNudge } from './nudge.ts';
import { RecentRows } from './recent-rows.ts';

/** Rows of one read: each costs the broker 50 ms in a bucket of 100,000, so few large ones. */
const readRows = 10_000;
/** Rows decoded at a stretch, about 10 ms. */
const decodedRows = 1_000;
/** Longest wait between two reads, and the least: many changes at once are one read. */
const checkMs = 750;
const gatherMs = 50;

/** All rows of one life of the bucket, up to a revision. */
interface Copy {
  readonly incarnation: number;
  readonly rows: RecentRows;
  revision: number;
}

/**
 * A copy of all rows, loaded at once and then read on from its revision whenever a hint comes, and at least every 750 ms. It creates no
 * consumer: a service must not hold the right to (reliability §0, 7). While the broker is away it keeps what it has. Rejects with
 * `unavailable` when the first load fails.
 */
export const openIndexView = async (bucket: KeyValue, clock: Clock, marks?: Partial<RowMarks>): Promise<IndexView> => {
  let copy: Copy = { incarnation: Number.NaN, rows: new RecentRows(marks), revision: 0 };
  let checkedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  /** A bucket that is another one than before, or shorter, is copied from its beginning. */
  const copyToContinue = async (): Promise<Copy> => {
    if (clock.monotonic() - checkedAt < checkMs) return copy;
    const { incarnation, revision } = await bucket.info();
    checkedAt = clock.monotonic();
    return incarnation === copy.incarnation && revision >= copy.revision
      ? copy
      : { incarnation, rows: new RecentRows(marks), revision: 0 };
  };
  const refresh = async (): Promise<void> => {
    const next = await copyToContinue();
    let changes = bucket.changes(rowPart, next.revision, readRows);
    for (let more = true; more; ) {
      const read = await changes;
      next.revision = read.entries.at(-1)?.revision ?? next.revision;
      more = read.more;
      if (more) {
        // The broker reads on while these rows are decoded; if that fails, the next turn of the loop hears of it.
        changes = bucket.changes(rowPart, next.revision, readRows);
        changes.catch(() => {});
      }
      for (const [at, entry] of read.entries.entries()) {
        apply(next.rows, entry);
        if (at % decodedRows === decodedRows - 1) await clock.sleep(0);
      }
    }
    copy = next;
  };

  await refresh();
  const nudge = createNudge(clock);
  const endHints = bucket.hint(`${rowPart}.>`, nudge.wake);
  const keepCurrent = async (): Promise<void> => {
    while (!closed) {
      await nudge.wait(checkMs);
      await clock.sleep(gatherMs);
      // The broker is away: the copy stays as it is until it is back. `Ports.problems` tells.
      if (!closed) await refresh().catch(() => {});
    }
  };
  const ended = keepCurrent();

  return {
    get: (key) => copy.rows.get(rowKey(key)),
    rows: () => copy.rows.rows(),
    newestFirst: (filter) => copy.rows.newestFirst(filter),
    close: async () => {
      closed = true;
      endHints();
      nudge.wake();
      await ended;
    },
  };
};

const apply = (rows: RecentRows, entry: Entry): void => {
  const row = rowOf(entry);
  if (row === null) rows.delete(entry.key);
  else rows.set(entry.key, row);
};
