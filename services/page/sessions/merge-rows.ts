import type { SessionRow } from '../../../shared/client/main.ts';

/**
 * The rows of the list: a new object after each change. A next page is added to the same array and map: there may be a hundred thousand rows,
 * pages come quickly, and what a copy leaves behind holds the page up while it is collected.
 */
export interface SessionRows {
  readonly list: readonly SessionRow[];
  readonly byKey: ReadonlyMap<string, SessionRow>;
}

/**
 * By the time of what was said last. The gateway has them by their last commit, which may be a label: never earlier, so what was said last is
 * in its first pages too.
 */
const bySaid = (some: readonly SessionRow[]): readonly SessionRow[] =>
  [...some].sort((one, other) => other.interactedAt - one.interactedAt);

export const rowsOf = (list: readonly SessionRow[]): SessionRows => ({ list, byKey: new Map(list.map((row) => [row.key, row])) });

type Mutable = { readonly list: SessionRow[]; readonly byKey: Map<string, SessionRow> };

/**
 * The rows after the first page was read again: what is in it is as it is now, and what it should have and has not is gone. Rows further down
 * stay as they were read. The rows that were given are not to be used any more. `pinned`: all that are, above the others; `null`: they are among
 * the others.
 */
export const withFirstPage = (
  rows: SessionRows,
  pinned: readonly SessionRow[] | null,
  page: readonly SessionRow[],
): SessionRows => {
  const { list, byKey } = rows as Mutable;
  const oldest = page.at(-1)?.updatedAt ?? 0;
  const above = pinned ?? [];
  const fresh = new Set([...above, ...page].map(({ key }) => key));
  let kept = 0;
  for (const row of list) {
    if (row.updatedAt < oldest && !(pinned && row.settings.pinned) && !fresh.has(row.key)) list[kept++] = row;
    else byKey.delete(row.key);
  }
  list.length = kept;
  for (const row of [...above, ...page]) byKey.set(row.key, row);
  const newest = list[0]?.interactedAt ?? 0;
  const isAbove = ({ interactedAt }: SessionRow): boolean => interactedAt >= newest;
  for (const row of page.filter((each) => !isAbove(each))) list.splice(placeOf(row, list), 0, row);
  list.unshift(...bySaid(above), ...bySaid(page.filter(isAbove)));
  return { list, byKey };
};

/** Where a row stands in a list by the time of what was said last. */
const placeOf = ({ interactedAt }: SessionRow, list: readonly SessionRow[]): number => {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((list[middle]?.interactedAt ?? 0) >= interactedAt) from = middle + 1;
    else to = middle;
  }
  return from;
};

/**
 * The rows with those of the next page that are not there yet, in order: only the end is sorted, where they belong. The first `pinned` ones
 * stay where they are. The rows that were given are not to be used any more.
 */
export const withPage = (rows: SessionRows, page: readonly SessionRow[], pinned: number): SessionRows => {
  const { list, byKey } = rows as Mutable;
  const more = page.filter(({ key }) => !byKey.has(key));
  const newest = more.reduce((latest, { interactedAt }) => Math.max(latest, interactedAt), 0);
  let from = list.length;
  while (from > pinned && (list[from - 1]?.interactedAt ?? 0) < newest) from--;
  for (const row of more) byKey.set(row.key, row);
  for (const row of bySaid([...list.splice(from), ...more])) list.push(row);
  return { list, byKey };
};
