import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { afterCommit, type Cursor, logPosition } from '../http/cursor.ts';
import { type Edge, pageBack } from './page-back.ts';
import { type Page, type Picked, pageForward } from './page-forward.ts';

/** Which page a call wants: with `before` the newest first in front of it, else the oldest first after `after`. */
export interface PageRange {
  readonly after?: Cursor | undefined;
  readonly before?: Cursor | 'end' | undefined;
  readonly limit: number;
}

/** What the page is of: one session, with its last commit, or all. Nothing up to the sequence `since` is shown. */
interface PageSource {
  readonly key?: SessionKey | undefined;
  readonly last?: Edge | undefined;
  readonly since: number;
}

const beginning = afterCommit(0);

/**
 * A page of the items that `pick` takes from each commit after a cursor; see `pageForward` and `pageBack`. Throws `NatterError('invalid')` for
 * a page in both directions.
 */
export const pageOf = async <T>(
  events: EventLog,
  { after, before, limit, key, last, since }: PageRange & PageSource,
  pick: (commit: RecordedCommit, after: Cursor) => Picked<T> | Promise<Picked<T>>,
): Promise<Page<T>> => {
  if (before === undefined) {
    const start = after ?? beginning;
    const from = Math.max(since, logPosition(start));
    return pageForward(events, { after: start, limit, from, ...(key && { key }) }, (commit) => pick(commit, start));
  }
  if (after !== undefined)
    throw new NatterError('invalid', 'before: is not for a page with "after"; give one of them', { field: 'before' });
  const end = last ?? { seq: (await events.info()).lastSeq, rev: Number.POSITIVE_INFINITY };
  return pageBack(events, { before, limit, from: since, key, last: end }, (commit) => pick(commit, beginning));
};
