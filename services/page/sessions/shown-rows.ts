import { computed } from '@preact/signals';
import type { SessionRow } from '../../../shared/client/main.ts';
import { groupedByLabel, type ShownList } from '../finding/label-groups.ts';
import { exactFirst } from '../finding/session-name.ts';
import { isGrouped, rows, search } from './session-list.ts';

/** The rows in the order of the list, what is called exactly as is searched for first; and as `items` with the headings of groups. */
export const shownRows = computed((): ShownList<SessionRow> | null => {
  if (rows.value === null) return null;
  const list = exactFirst(rows.value.list, search.value);
  return isGrouped.value ? groupedByLabel(list) : { list, items: list, headingAt: () => null };
});
