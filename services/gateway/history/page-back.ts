import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { ChainWatch } from '../../../shared/domain/session/chain-watch.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { orQuarantined } from '../../../shared/kit/or-quarantined.ts';
import type { EventLog } from '../../../shared/ports/event-log.ts';
import { type Cursor, formatCursor } from '../http/cursor.ts';
import { type Page, type PageGap, type Picked, scannedCommits } from './page-forward.ts';

/** Reads the log backwards for an answer. A log can only be read forwards: so each slice is found first, by the revisions in it. */

/** Commits that a slice has beside those that were asked for: finding its beginning more exactly would cost more reads. */
const slackCommits = 64;
const sliceCommits = 256;

/** What is read is in front of this: `seq` itself is not read; `rev` is that of the commit there, or the next one of its session. */
export interface Edge {
  readonly seq: number;
  readonly rev: number;
}

/** The first commit of a session after a sequence. */
const firstAfter = async (events: EventLog, key: SessionKey, after: number): Promise<RecordedCommit | undefined> =>
  (await orQuarantined(events.page({ after, limit: 1, key }))).commits[0];

/**
 * A sequence from which on there are at least `count` commits of the session in front of the edge, if it has as many, and few more. Steps of
 * doubled width find one that is far enough, halving the last step the way back one that is not too far.
 */
const beginningOf = async (events: EventLog, key: SessionKey, edge: Edge, count: number): Promise<number> => {
  const wanted = edge.rev - count;
  if (wanted <= 1) return 0;
  let [low, high] = [0, edge.seq - 1];
  let isAround = false;
  for (let width = count; high - low > 1; width *= 4) {
    const middle: number = isAround ? Math.floor((low + high) / 2) : Math.max(0, edge.seq - 1 - width);
    const { rev = edge.rev } = (await firstAfter(events, key, middle)) ?? {};
    if (rev <= wanted && rev >= wanted - count - slackCommits) return middle;
    if (rev <= wanted) [low, isAround] = [middle, true];
    // What there was before is gone: this is all.
    else if (middle === 0) return 0;
    else high = middle;
  }
  return low;
};

/** The commits in front of an edge, newest first, of one session or all. */
async function* commitsBack(
  events: EventLog,
  { edge: given, key, first }: { readonly edge: Edge; readonly key?: SessionKey | undefined; readonly first: number },
): AsyncGenerator<RecordedCommit> {
  let edge = given;
  for (let count = Math.min(first, sliceCommits); edge.seq > 1 && edge.rev > 1; count = sliceCommits) {
    const from = key === undefined ? Math.max(0, edge.seq - 1 - count) : await beginningOf(events, key, edge, count);
    const slice: RecordedCommit[] = [];
    for (let position = from, more = true; more && position < edge.seq - 1; ) {
      const limit = Math.min(sliceCommits, edge.seq - 1 - position);
      const page = await orQuarantined(events.page({ after: position, limit, ...(key && { key }) }));
      slice.push(...page.commits.filter(({ seq }) => seq < edge.seq));
      position = page.commits.at(-1)?.seq ?? edge.seq;
      ({ more } = page);
    }
    yield* slice.toReversed();
    // Of all sessions the revisions say nothing.
    edge = key === undefined ? { seq: from + 1, rev: edge.rev } : { seq: slice[0]?.seq ?? 0, rev: slice[0]?.rev ?? 0 };
    if (from === 0) return;
  }
}

const isBefore = ({ seq, index }: Cursor, cursor: Cursor): boolean =>
  seq < cursor.seq || (seq === cursor.seq && index < cursor.index);

/** Where to begin: in front of this cursor, which is of a commit that is read again if it points into it. */
const edgeOf = async (
  events: EventLog,
  { before, key, last }: { readonly before: Cursor | 'end'; readonly key?: SessionKey | undefined; readonly last: Edge },
): Promise<Edge> => {
  if (before === 'end' || before.seq > last.seq) return { seq: last.seq + 1, rev: last.rev + 1 };
  const seq = before.index > 0 ? before.seq + 1 : before.seq;
  if (key === undefined) return { seq, rev: last.rev };
  const after = await firstAfter(events, key, seq - 1);
  return { seq, rev: after?.rev ?? last.rev + 1 };
};

/**
 * A page of the items that `pick` takes from each commit (`cursor`: their position), newest first, up to `limit` items: those in front of
 * `before`, after the sequence `from`. `last`: the end of what is read. `next` is the `before` of the next page.
 */
export const pageBack = async <T>(
  events: EventLog,
  options: {
    readonly before: Cursor | 'end';
    readonly limit: number;
    readonly from: number;
    readonly key?: SessionKey | undefined;
    readonly last: Edge;
  },
  pick: (commit: RecordedCommit) => Picked<T> | Promise<Picked<T>>,
): Promise<Page<T>> => {
  const { before, limit, from, key } = options;
  const items: T[] = [];
  const seen: RecordedCommit[] = [];
  const page = (next: string, more: boolean): Page<T> => ({ items, next, more, gaps: key ? gapsIn(seen, key, more, from) : [] });
  let next = before === 'end' ? '' : formatCursor(before);
  for await (const commit of commitsBack(events, { edge: await edgeOf(events, options), key, first: limit + 1 })) {
    if (commit.seq <= from) break;
    if (seen.length === scannedCommits) return page(next, true);
    seen.push(commit);
    const picked = (await pick(commit)).filter(({ cursor }) => before === 'end' || isBefore(cursor, before)).toReversed();
    for (const { cursor, item } of picked) {
      if (items.length === limit) return page(next, true);
      items.push(item);
      next = formatCursor(cursor);
    }
    // The whole commit is told.
    next = `${commit.seq}`;
  }
  return page(next === '' ? '0' : next, false);
};

/** What is lost between the commits of a page. The oldest of them is the neighbour of what is told on the next page. */
const gapsIn = (newestFirst: readonly RecordedCommit[], key: SessionKey, more: boolean, from: number): PageGap[] => {
  const chain = new ChainWatch(1);
  if (!more && from === 0) chain.begin(key);
  return newestFirst.toReversed().flatMap((commit) => {
    const gap = chain.take(commit);
    return gap === null ? [] : [{ key, ...gap }];
  });
};
