import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { onceInSight, type Sight } from '../../../../services/page/sessions/in-sight.ts';

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
