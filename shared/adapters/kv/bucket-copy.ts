import type { Clock } from '../../kit/clock.ts';
import { Signal } from '../../kit/signal.ts';
import type { Entry, KeyValue } from './key-value.ts';

/** Entries per read: each read costs the broker 50 ms in a bucket of 100,000, so reads are few and large. */
const readEntries = 10_000;
/** Entries taken without a pause, about 10 ms of rows. */
const takenEntries = 1_000;
/** Longest wait for a replica that a hint was ahead of, and the shortest, which collects many changes into one read. */
const checkMs = 750;
const gatherMs = 50;
/**
 * Longest wait between two reads of a bucket that nobody writes to, without hints and with them, when only what was lost with a connection
 * may be new.
 */
const restMs = { unhinted: 1_500, hinted: 6_000 } as const;

export interface CopyOptions<C> {
  /** Copies all keys `<part>.…`. */
  readonly part: string;
  /** Also reads when the broker hints at a change, which costs a message for each: for what changes rarely. */
  readonly hinted: boolean;
  /** Creates an empty container for the copy. */
  empty(): C;
  take(held: C, entry: Entry): void;
}
export interface BucketCopy<C> {
  /** The current container; a new one after the bucket was recreated. */
  current(): C;
  /** Reads the latest changes now. Rejects with `unavailable`. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** The copy of one life of the bucket, up to a revision. */
interface Copy<C> {
  readonly incarnation: number;
  readonly held: C;
  revision: number;
}

/**
 * A copy of a part of a bucket. It loads everything, then reads on from its revision on every hint or every 750 ms, and ever more rarely
 * while nothing changes. It creates no consumer, because services must not have that right (ADR 2). While the broker is away it keeps what it has. Rejects
 * with `unavailable` when the first load fails.
 */
export const openBucketCopy = async <C>(
  bucket: KeyValue,
  clock: Clock,
  { part, hinted, empty, take }: CopyOptions<C>,
): Promise<BucketCopy<C>> => {
  let copy: Copy<C> = { incarnation: Number.NaN, held: empty(), revision: 0 };
  let checkedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  /** A bucket that was recreated, or is shorter than before, is copied from its beginning. */
  const copyToContinue = async (): Promise<Copy<C>> => {
    if (clock.monotonic() - checkedAt < checkMs) return copy;
    const { incarnation, revision } = await bucket.info();
    checkedAt = clock.monotonic();
    return incarnation === copy.incarnation && revision >= copy.revision ? copy : { incarnation, held: empty(), revision: 0 };
  };
  const readOn = async (): Promise<void> => {
    const next = await copyToContinue();
    let changes = bucket.changes(part, next.revision, readEntries);
    for (let more = true; more; ) {
      const read = await changes;
      next.revision = read.entries.at(-1)?.revision ?? next.revision;
      more = read.more;
      if (more) {
        // Reads ahead while these entries are taken; the next iteration sees a failure.
        changes = bucket.changes(part, next.revision, readEntries);
        changes.catch(() => {});
      }
      for (const [at, entry] of read.entries.entries()) {
        take(next.held, entry);
        if (at % takenEntries === takenEntries - 1) await clock.sleep(0);
      }
    }
    copy = next;
  };
  // One at a time: of two overlapping reads, the earlier could overwrite newer data.
  let last: Promise<void> = Promise.resolve();
  const refresh = (): Promise<void> => {
    last = last.then(readOn, readOn);
    return last;
  };

  await refresh();
  const changed = new Signal();
  const endHints = hinted ? bucket.hint(`${part}.>`, changed.notify) : () => {};
  const keepCurrent = async (): Promise<void> => {
    const mostMs = hinted ? restMs.hinted : restMs.unhinted;
    for (let idleMs = checkMs; !closed; ) {
      const [{ revision }, isHint] = [copy, await changed.waitAtMost(idleMs, clock)];
      await clock.sleep(gatherMs);
      // The broker is away: the copy stays as it is until it is back. `Ports.problems` tells.
      if (!closed) await refresh().catch(() => {});
      idleMs = isHint || copy.revision !== revision ? checkMs : Math.min(mostMs, 2 * idleMs);
    }
  };
  const ended = keepCurrent();

  return {
    current: () => copy.held,
    refresh,
    close: async () => {
      closed = true;
      endHints();
      changed.notify();
      await ended;
    },
  };
};
