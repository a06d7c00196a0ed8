import { computed, effect, signal } from '@preact/signals';
import type { SessionPage, SessionRow } from '../../../shared/client/main.ts';
import { route } from '../base/route.ts';
import { client, problemOf, who } from '../base/signed-in.ts';
import { rowsOf, type SessionRows, withFirstPage, withPage } from './merge-rows.ts';
import { saysFailed } from './session-why.ts';

/** The list of sessions, as the filters in the address say. It is read again whenever anything is recorded. */

const pageRows = 200;
/** How long changes are collected before the list is read again, ms. */
const settleMs = 250;

export const filters = [
  'active',
  'running',
  'awaiting_approval',
  'awaiting_results',
  'failed',
  'idle',
  'inactive',
  'all',
] as const;
export type Filter = (typeof filters)[number];

export const filter = computed<Filter>(() => filters.find((each) => each === route.value.query.status) ?? 'active');
export const search = computed(() => route.value.query.q ?? '');
export const label = computed(() => route.value.query.label ?? '');
export const isUnreadOnly = computed(() => route.value.query.unread === '1');
/** Whether the rows stand under their labels. It hides none. */
export const isGrouped = computed(() => route.value.query.group === 'label');

export const rows = signal<SessionRows | null>(null);
export const listProblem = signal<string | null>(null);
const nextCursor = signal<string | null>(null);
export const hasMore = computed(() => nextCursor.value !== null);

/** Labels that rows have had since the page was opened, which the list can be filtered by. */
export const labels = signal<readonly string[]>([]);
const noteLabels = (some: readonly SessionRow[]): void => {
  const all = new Set([...labels.peek(), ...some.flatMap(({ settings }) => settings.labels ?? [])]);
  if (all.size > labels.peek().length) labels.value = [...all].sort();
};

let reading = new AbortController();

/** What the gateway is asked for: one whose last answer failed has the status of any other. */
const statusQuery = (wanted: Filter): Readonly<Record<string, string | true>> => {
  if (wanted === 'failed') return { failed: true };
  return wanted === 'active' ? {} : { status: wanted };
};

const readPage = (cursor: string | undefined, signal: AbortSignal): Promise<SessionPage> =>
  client.get('/v1/sessions', {
    query: {
      ...{ limit: pageRows, cursor, q: search.peek() || undefined, label: label.peek() || undefined },
      ...statusQuery(filter.peek()),
      pinned: isUnfiltered.peek() ? false : undefined,
      unread: isUnreadOnly.peek() || undefined,
    },
    signal,
  });

/** Pinned sessions stand above the others, unless something is searched for. */
export const isUnfiltered = computed(
  () => search.value === '' && filter.value === 'active' && label.value === '' && !isUnreadOnly.value,
);
const mostPinned = 50;
const readPinned = async (signal: AbortSignal): Promise<readonly SessionRow[] | null> => {
  if (!isUnfiltered.peek()) return null;
  const { sessions } = await client.get<SessionPage>('/v1/sessions', { query: { limit: mostPinned, pinned: true }, signal });
  return sessions;
};

/** How many of the newest sessions whose last answer failed are counted, and how many of them there are. */
export const mostFailed = 50;
export const failedCount = signal(0);
const readFailed = async (signal: AbortSignal): Promise<number> => {
  if (!isUnfiltered.peek()) return 0;
  const { sessions } = await client.get<SessionPage>('/v1/sessions', { query: { limit: mostFailed, failed: true }, signal });
  return sessions.filter(saysFailed).length;
};

/** Reads the first page. Rows further down stay as they were read. */
export const readAgain = async (): Promise<void> => {
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  try {
    const [page, pinned, failed] = await Promise.all([readPage(undefined, signal), readPinned(signal), readFailed(signal)]);
    if (signal.aborted) return;
    noteLabels([...(pinned ?? []), ...page.sessions]);
    const before = page.nextCursor === null ? null : rows.peek();
    rows.value = withFirstPage(before ?? rowsOf([]), pinned, page.sessions);
    // Nothing further down was read.
    if (rows.value.list.length === (pinned ?? []).length + page.sessions.length) nextCursor.value = page.nextCursor;
    failedCount.value = failed;
    listProblem.value = null;
  } catch (error) {
    if (!signal.aborted) listProblem.value = problemOf(error);
  }
};

let isReadingMore = false;
export const readMore = async (): Promise<void> => {
  const cursor = nextCursor.peek();
  if (cursor === null || isReadingMore) return;
  isReadingMore = true;
  const { signal } = reading;
  try {
    const page = await readPage(cursor, signal);
    if (signal.aborted) return;
    noteLabels(page.sessions);
    const before = rows.peek() ?? rowsOf([]);
    const others = isUnfiltered.peek() ? before.list.findIndex(({ settings }) => settings.pinned !== true) : 0;
    rows.value = withPage(before, page.sessions, others === -1 ? before.list.length : others);
    nextCursor.value = page.nextCursor;
  } catch (error) {
    if (!signal.aborted) listProblem.value = problemOf(error);
  } finally {
    isReadingMore = false;
  }
};

let settling: ReturnType<typeof setTimeout> | undefined;
/** Something was recorded: called for each event, answered once. */
export const changed = (): void => {
  if (settling !== undefined) return;
  settling = setTimeout(() => {
    settling = undefined;
    void readAgain();
  }, settleMs);
};

/** Follows filters and who is signed in. */
export const followList = (): void => {
  effect(() => {
    void filter.value;
    void search.value;
    void label.value;
    void isUnreadOnly.value;
    rows.value = null;
    nextCursor.value = null;
    if (who.value) void readAgain();
  });
};
