import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { afterCommit, type Cursor, formatCursor } from '../http/cursor.ts';

/** Reads the log for an answer. */

/** Commits read at once while a page is filled. */
const readCommits = 256;
/** Commits that one call may scan; a filter with few matches gets a shorter page and continues from its cursor. */
const scannedCommits = 10_000;

/** The one answer for a session that does not exist, is deleted, or is not visible to the caller: word for word the same (A8/89). */
export const noSuchSession = (): NatterError =>
  new NatterError('not_found', 'there is no such session, or it is not yours to see', { field: 'key' });

/** Throws `noSuchSession()` if nothing is recorded under the key; otherwise its last commit, from the leader. */
export const lastOf = async (events: EventLog, key: SessionKey): Promise<RecordedCommit> => {
  const last = await orQuarantined(events.last(key));
  if (last === null) throw noSuchSession();
  return last;
};

type Picked<T> = readonly { readonly cursor: Cursor; readonly item: T }[];

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins: the `after` of the next call. */
  readonly next: string;
  readonly more: boolean;
}

/** A page of the items that `pick` takes from each commit (`cursor`: the position after an item), oldest first, up to `limit` items. */
export const pageOf = async <T>(
  events: EventLog,
  options: { after: Cursor; limit: number; from: number; key?: SessionKey },
  pick: (commit: RecordedCommit) => Picked<T> | Promise<Picked<T>>,
): Promise<Page<T>> => {
  const { limit, key } = options;
  const items: T[] = [];
  let next = options.after;
  let position = options.from;
  for (let scanned = 0; scanned < scannedCommits; ) {
    const { commits, more } = await orQuarantined(events.page({ after: position, limit: readCommits, ...(key && { key }) }));
    for (const commit of commits) {
      for (const { cursor, item } of await pick(commit)) {
        if (items.length === limit) return { items, next: formatCursor(next), more: true };
        items.push(item);
        next = cursor;
      }
      next = afterCommit(commit.seq);
      position = commit.seq;
    }
    scanned += commits.length;
    if (!more || commits.length === 0) return { items, next: formatCursor(next), more: false };
  }
  return { items, next: formatCursor(next), more: true };
};
