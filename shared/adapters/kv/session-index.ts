import { LRUCache } from 'lru-cache';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { limits } from '../../kit/limits.ts';
import type { SessionIndex } from '../../ports/session-index.ts';
import { indexRowCodec, positionCodec } from '../../wire/records.ts';
import { bucketKey } from '../../wire/subjects.ts';
import { rowKey, rowOf } from './index-row.ts';
import { openIndexView } from './index-view.ts';
import type { KeyValue } from './key-value.ts';

/** Concurrent writes. */
const writesAtOnce = 64;
/** Where the bucket has the sequence that the index reflects. */
export const indexPositionKey = bucketKey('position');

/** A bucket key and the revision we last saw. */
interface Seen {
  readonly key: string;
  readonly revision: number;
}
/** A stored row: its revision fences the write of a newer one. */
interface StoredRow extends Seen {
  readonly seq: number;
}

/**
 * The session index in a bucket: `session.<key>` for each row, and `position`. The bucket may lose its last writes in a crash, so
 * rows and position are kept consistent: a position is written only while the last row it covers is still there, and a write that
 * reveals a loss rejects with `unavailable`. The writer then starts over: it drops its state and asks for the position.
 */
export const createSessionIndex = (bucket: KeyValue, clock: Clock): SessionIndex => {
  const stored = new LRUCache<string, StoredRow>({ max: limits.residentSessions });
  /** The newest revision of the position that we saw. Later writes have greater ones, unless the bucket lost some. */
  let positionRevision = 0;

  const readRow = async (key: string): Promise<{ row: IndexRow | null; seen: StoredRow }> => {
    const entry = await bucket.read(key);
    const row = rowOf(entry);
    const seen = { key, revision: entry.revision, seq: row?.seq ?? 0 };
    stored.set(key, seen);
    return { row, seen };
  };

  const forgotten = (): NatterError => {
    stored.clear();
    return new NatterError('unavailable', 'the session index has lost its last writes; start again from its position', {
      retryAfterMs: 0,
    });
  };

  /** Writes one row unless a newer one is stored. Resolves with what it wrote, if anything. */
  const putRow = async (row: IndexRow): Promise<Seen | null> => {
    const key = rowKey(row.key);
    let before = stored.get(key) ?? (await readRow(key)).seen;
    for (let attempt = 0; attempt <= limits.fencedRetries; attempt++) {
      if (before.seq >= row.seq) return null;
      const revision = await bucket.put(key, indexRowCodec.encode(row), { fence: before });
      if (revision !== null) {
        if (revision <= positionRevision) throw forgotten();
        stored.set(key, { key, revision, seq: row.seq });
        return { key, revision };
      }
      const { seen } = await readRow(key);
      if (seen.revision < before.revision) throw forgotten();
      before = seen;
    }
    throw new NatterError('unavailable', `other writers keep changing the index row of ${row.key}`, { retryAfterMs: 1_000 });
  };

  /** Writes the position while `last`, or a newer value of its key, is still there. */
  const putPosition = async (position: number, last: Seen): Promise<void> => {
    let fence = last;
    for (let attempt = 0; attempt <= limits.fencedRetries; attempt++) {
      const revision = await bucket.put(indexPositionKey, positionCodec.encode({ seq: position }), { fence });
      if (revision !== null) {
        positionRevision = revision;
        return;
      }
      const now = await bucket.read(fence.key);
      if (now.revision < fence.revision) throw forgotten();
      fence = now;
    }
    throw new NatterError('unavailable', 'other writers keep changing the position of the index', { retryAfterMs: 1_000 });
  };

  return {
    get: async (key) => (await readRow(rowKey(key))).row,
    put: async (rows, position) => {
      let last: Seen = { key: indexPositionKey, revision: positionRevision };
      await inParallel(rows, async (row) => {
        const written = await putRow(row);
        if (written !== null && written.revision > last.revision) last = written;
      });
      await putPosition(position, last);
    },
    position: async () => {
      const { revision, value } = await bucket.read(indexPositionKey);
      stored.clear();
      positionRevision = revision;
      return value === null ? 0 : positionCodec.decode(value).seq;
    },
    watch: (marks) => openIndexView(bucket, clock, marks),
  };
};

/** Runs `work` for each item, at most `writesAtOnce` at a time, and starts no further items after a failure. */
const inParallel = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(writesAtOnce, items.length) }, worker));
};
