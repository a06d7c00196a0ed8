import { computed } from '@preact/signals';
import { exactFirst } from '../finding/session-name.ts';
import { rows, search } from './session-list.ts';

/** The rows in the order of the list: what is called exactly as is searched for stands first. */
export const shownRows = computed(() => rows.value && { list: exactFirst(rows.value.list, search.value) });
