import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { HistoryGap } from '../../../shared/domain/session/chain.ts';
import { ChainWatch } from '../../../shared/domain/session/chain-watch.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { hasCode } from '../../../shared/kit/errors.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { afterCommit, type Cursor, formatCursor } from '../http/cursor.ts';

/** Reads the log forwards for an answer. */

/** Commits read at once while a page is filled, at least: a filter may take few of them. */
const readCommits = 256;
/** Commits that one call may scan, 0.1 s of work; a filter with few matches gets a shorter page and continues from its cursor. */
export const scannedCommits = 2_000;

export type Picked<T> = readonly { readonly cursor: Cursor; readonly item: T }[];

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins: the `after` of the next call, or of a page that reads backwards its `before`. */
  readonly next: string;
  readonly more: boolean;
  /** What is lost between the items, or after the last one; of several sessions only as far as the page itself shows it. */
  readonly gaps: readonly PageGap[];
}
export type PageGap = HistoryGap & { readonly key: SessionKey };

/** A page of the items that `pick` takes from each commit (`cursor`: the position after an item), oldest first, up to `limit` items. */
export const pageForward = async <T>(
  events: EventLog,
  options: { after: Cursor; limit: number; from: number; key?: SessionKey },
  pick: (commit: RecordedCommit) => Picked<T> | Promise<Picked<T>>,
): Promise<Page<T>> => {
  const { limit, key, from } = options;
  const items: T[] = [];
  const gaps: PageGap[] = [];
  const chain = new ChainWatch(scannedCommits);
  if (key && from === 0) chain.begin(key);
  let next = options.after;
  // Of one session the commit that the page continues from is read again: what is lost may be right after it.
  let position = key && from > 0 ? from - 1 : from;
  // With the one that is read again, and the one that tells whether there are more.
  const atOnce = Math.max(readCommits, limit + 2);
  for (let scanned = 0; scanned < scannedCommits; ) {
    const { commits, more } = await orQuarantined(events.page({ after: position, limit: atOnce, ...(key && { key }) }));
    for (const commit of commits) {
      const gap = chain.take(commit);
      position = commit.seq;
      if (commit.seq <= from) continue;
      const picked = await pick(commit);
      // A gap is told once, on the page of what follows it.
      const isFull = items.length === limit && picked.length > 0;
      if (gap !== null && !isFull && (key !== undefined || picked.length > 0)) gaps.push({ key: commit.key, ...gap });
      for (const { cursor, item } of picked) {
        if (items.length === limit) return { items, next: formatCursor(next), more: true, gaps };
        items.push(item);
        next = cursor;
      }
      next = afterCommit(commit.seq);
    }
    scanned += commits.length;
    if (!more || commits.length === 0) {
      if (key) gaps.push(...(await gapAtEnd(events, key, chain)));
      return { items, next: formatCursor(next), more: false, gaps };
    }
  }
  return { items, next: formatCursor(next), more: true, gaps };
};

/** What the broker has after the last commit that it can read. */
const gapAtEnd = async (events: EventLog, key: SessionKey, chain: ChainWatch): Promise<PageGap[]> => {
  try {
    await events.last(key);
    return [];
  } catch (error) {
    if (!hasCode(error, 'damaged')) return [];
    const { rev, seq } = chain.lastOf(key) ?? { rev: 0, seq: 0 };
    return [{ key, reason: 'unreadable', fromRev: rev + 1, toRev: null, afterSeq: seq, beforeSeq: null }];
  }
};
