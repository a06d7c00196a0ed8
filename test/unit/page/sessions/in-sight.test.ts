import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isShownUnread, markedUnread, onceInSight, readHere, type Sight } from '../../../../services/page/sessions/in-sight.ts';
import type { SessionRow } from '../../../../shared/client/main.ts';

/** A session that is passed on the way to another is not read; one that stays open is. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sightOf = () => {
  const sight = Object.assign(new EventTarget(), { visibilityState: 'visible' as Sight['visibilityState'] });
  const turn = (state: Sight['visibilityState']): void => {
    sight.visibilityState = state;
    sight.dispatchEvent(new Event('visibilitychange'));
  };
  return { sight, turn };
};

test('what is called off before its time is not done', () => {
  const done = vi.fn();
  const end = onceInSight(sightOf().sight, 1_000, done);
  vi.advanceTimersByTime(999);
  end();
  vi.advanceTimersByTime(5_000);
  expect(done).not.toHaveBeenCalled();
});

test('only time in sight counts, without a break, and it is done once', () => {
  const done = vi.fn();
  const { sight, turn } = sightOf();
  onceInSight(sight, 1_000, done);
  vi.advanceTimersByTime(900);
  turn('hidden');
  vi.advanceTimersByTime(5_000);
  turn('visible');
  vi.advanceTimersByTime(900);
  expect(done).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  turn('hidden');
  turn('visible');
  vi.advanceTimersByTime(5_000);
  expect(done).toHaveBeenCalledTimes(1);
});

test.each([
  ['elsewhere', null, null, true],
  ['in another session', 'other', null, true],
  ['in it: what comes is seen', 'here', null, false],
  ['in it, which was marked as unread', 'here', { key: 'here', messageCount: 2 }, true],
  ['in it, which has had a message since it was marked', 'here', { key: 'here', messageCount: 1 }, false],
  ['in it, while another one was marked', 'here', { key: 'other', messageCount: 2 }, false],
])('a session with something unread, for who reads %s', (_, reads, marked, expected) => {
  readHere.value = reads;
  markedUnread.value = marked as typeof markedUnread.value;
  const row = { key: 'here', messageCount: 2, unread: true } as SessionRow;
  expect(isShownUnread(row)).toBe(expected);
  expect(isShownUnread({ ...row, unread: false })).toBe(false);
});
