import { expect, test } from 'vitest';
import { eventFilterName, viewsFor } from '../../../../services/page/finding/filtered-views.ts';

test.each([
  ['reset', 'Resets and forks', { type: 'session_reset' }],
  ['fork', 'Resets and forks', { type: 'session_reset' }],
  ['failed', 'Sessions whose last answer failed', { status: 'failed' }],
  ['approval', 'Sessions that need approval', { status: 'awaiting_approval' }],
  ['waiting', 'Sessions that need approval', { status: 'awaiting_approval' }],
  ['group', 'Sessions by label', { group: 'label' }],
  ['archived', 'Archived sessions', { status: 'inactive' }],
])('"%s" leads first to "%s"', (typed, words, query) => {
  expect(viewsFor(typed, 3)[0]).toMatchObject({ words, query });
});

test.each(['', 'r', 'bluebells'])('"%s" leads to no view', (typed) => {
  expect(viewsFor(typed, 3)).toEqual([]);
});

test.each([
  ['session_reset', 'Resets and forks'],
  ['turn_failed', 'Answers that failed'],
  ['tool_result', undefined],
])('the filter of events of the type %s is called %s', (type, words) => {
  expect(eventFilterName(type)).toBe(words);
});
