import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../shared/kit/clock.ts';

const days = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test.each([1, 24, 25, 30, 1_000])('a sleep of %i days lasts that long, also beyond what one timer can wait', async (count) => {
  let over = false;
  void systemClock.sleep(count * days).then(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(count * days - 1);
  expect(over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(over).toBe(true);
});

test('a long sleep that is aborted ends at once and leaves no timer', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const ended = vi.spyOn(globalThis, 'clearTimeout');
  const stop = new AbortController();
  const slept = systemClock.sleep(60 * days, stop.signal);
  await vi.advanceTimersByTimeAsync(30 * days);
  // Files share a process: what others left running may have timers here, too, and none of them is as long.
  const own = timers.mock.results.filter((_, index) => (timers.mock.calls[index]?.[1] ?? 0) > days).map(({ value }) => value);
  expect(own).toHaveLength(2);
  stop.abort();
  await slept;
  expect(ended.mock.calls.flat()).toContain(own[1]);
});
