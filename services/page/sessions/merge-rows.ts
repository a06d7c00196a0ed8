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
export const bySaid = (some: readonly SessionRow[]): readonly SessionRow[] =>
  [...some].sort((one, other) => other.interactedAt - one.interactedAt);

export const rowsOf = (list: readonly SessionRow[]): SessionRows => ({ list, byKey: new Map(list.map((row) => [row.key, row])) });

/**
 * The rows with those of the next page that are not there yet, in order: only the end is sorted, where they belong. The first `pinned` ones
 * stay where they are. The rows that were given are not to be used any more.
 */
export const withPage = (rows: SessionRows, page: readonly SessionRow[], pinned: number): SessionRows => {
  const { list, byKey } = rows as { readonly list: SessionRow[]; readonly byKey: Map<string, SessionRow> };
  const more = page.filter(({ key }) => !byKey.has(key));
  const newest = more.reduce((latest, { interactedAt }) => Math.max(latest, interactedAt), 0);
  let from = list.length;
  while (from > pinned && (list[from - 1]?.interactedAt ?? 0) < newest) from--;
  for (const row of more) byKey.set(row.key, row);
  for (const row of bySaid([...list.splice(from), ...more])) list.push(row);
  return { list, byKey };
};
