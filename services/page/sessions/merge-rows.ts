import type { SessionRow } from '../../../shared/client/main.ts';

/**
 * By the time of what was said last. The gateway has them by their last commit, which may be a label: never earlier, so what was said last is
 * in its first pages too.
 */
export const bySaid = (some: readonly SessionRow[]): readonly SessionRow[] =>
  [...some].sort((one, other) => other.interactedAt - one.interactedAt);

/** The rows with those of the next page, in order: only the end is sorted, where they belong. The first `pinned` ones stay where they are. */
export const withPage = (rows: readonly SessionRow[], more: readonly SessionRow[], pinned: number): readonly SessionRow[] => {
  const newest = more.reduce((latest, { interactedAt }) => Math.max(latest, interactedAt), 0);
  let from = rows.length;
  while (from > pinned && (rows[from - 1]?.interactedAt ?? 0) < newest) from--;
  // One copy: there may be a hundred thousand rows, and pages come quickly.
  return rows.slice(0, from).concat(bySaid([...rows.slice(from), ...more]));
};
