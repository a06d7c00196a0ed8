import { expect, test } from 'vitest';
import { Timeline } from '../../../services/page/past/timeline.ts';
import { toldChanges } from '../../../services/page/past/told-changes.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { tell } from '../../support/domain/given.ts';

/** What a moment changed that is not in the state of its session. */

/** The commits of a history, of which the later ones have other events. */
const timelineOf = (history: readonly string[], ...others: readonly object[]): Timeline => {
  const { commits } = tell(...history);
  const timeline = new Timeline();
  for (const commit of commits) {
    const other = others[commit.rev - 1 - (commits.length - others.length)];
    timeline.add(other === undefined ? commit : { ...commit, events: [{ v: 1, ...other } as SessionEvent] });
  }
  return timeline;
};

test('an edit changed what was said, by the commit in which it was', () => {
  const { commits } = tell('post m1');
  const of = `${commits[0]?.seq}.${commits[0]?.events.findIndex(({ type }) => type === 'user_message')}`;
  const edited = { type: 'message_edited', of, messageId: 'm1', text: 'new words', by: { id: 'x' } };
  const timeline = timelineOf(['post m1', 'reply m1/1 1', 'append m2'], edited);
  const before = timeline.knownAt(2)[0]?.text;
  expect(toldChanges(timeline, 2, 3)).toEqual([{ path: 'what was said in commit 1', before, after: 'new words' }]);
  expect(toldChanges(timeline, 1, 2)).toEqual([]);
  expect(toldChanges(timeline, 0, 3)).toEqual([]);
});

test('a memory was added, edited and forgotten, and one of another session is called by its number', () => {
  const { commits } = tell('append m1', 'append m2');
  const id = `${commits[1]?.seq}-0`;
  const changed = (...changes: object[]) => ({ type: 'memory_changed', changes, reach: [], by: 'person', sessionId: 's1' });
  const history = ['append m1', 'append m2', 'append m3', 'append m4', 'append m5'];
  const timeline = timelineOf(
    history,
    changed({ op: 'add', scope: { kind: 'agent' }, text: 'tea' }),
    changed({ op: 'update', id, text: 'green tea' }),
    changed({ op: 'forget', id, reason: '' }),
    changed({ op: 'update', id: '1-7', text: 'walrus' }),
  );
  const at = (first: number, last: number) => toldChanges(timeline, first, last).map(({ before, after }) => [before, after]);
  expect(at(1, 2)).toEqual([[undefined, 'tea']]);
  expect(at(2, 3)).toEqual([['tea', 'green tea']]);
  expect(at(3, 4)).toEqual([['green tea', undefined]]);
  expect(at(4, 5)).toEqual([['memory 1-7', 'walrus']]);
  // Added and forgotten in between: nothing is left of it.
  expect(at(1, 4)).toEqual([]);
});
