import { fitting } from './destinations.ts';

/** What the page can be filtered by, as places of their own: who searches for "reset" looks for the sessions that were reset. */
export interface FilteredView {
  readonly words: string;
  /** What else it is found by. */
  readonly says: string;
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

const sessions = (words: string, says: string, query: Readonly<Record<string, string>>): FilteredView => ({
  ...{ words, says, path: ['sessions'], query },
});
const events = (words: string, says: string, type: string): FilteredView => ({
  ...{ words, says, path: ['events'], query: { type } },
});

export const filteredViews: readonly FilteredView[] = [
  sessions('Sessions whose last answer failed', 'filter of the list: failures, errors', { status: 'failed' }),
  sessions('Sessions that need approval', 'filter of the list: waiting for a person', { status: 'awaiting_approval' }),
  sessions('Sessions that are answering', 'filter of the list: running', { status: 'running' }),
  sessions('Sessions that wait for a program', 'filter of the list: waiting', { status: 'awaiting_results' }),
  sessions('Archived sessions', 'filter of the list: inactive', { status: 'inactive' }),
  sessions('Sessions that are unread', 'filter of the list: new messages', { unread: '1' }),
  sessions('Sessions by label', 'list: grouped, groups, sections', { group: 'label' }),
  events('Resets and forks', 'events: sessions that were reset or forked', 'session_reset'),
  events('Answers that failed', 'events: failures, errors', 'turn_failed'),
  events('Answers to approvals', 'events: what was allowed or denied', 'approval_resolved'),
  events('Deleted sessions', 'events: deletions', 'session_deleted'),
  events('Changed settings', 'events: renamed, models, labels', 'settings_changed'),
];

/** What a filter of events is called that leads to one type alone; `undefined`: it has no name of its own. */
export const eventFilterName = (type: string): string | undefined =>
  filteredViews.find(({ path, query }) => path[0] === 'events' && query.type === type)?.words;

/** The views that some words mean, at most so many. A single letter means none of them. */
export const viewsFor = (words: string, most: number): readonly FilteredView[] =>
  words.trim().length < 2 ? [] : fitting(filteredViews, words, most);
