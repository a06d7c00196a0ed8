import { expect, test, vi } from 'vitest';
import type { Clock } from '../../../../shared/kit/clock.ts';
import { KeptMetrics } from '../../../../shared/runtime/telemetry/kept-metrics.ts';

/** Time goes on only as it is told to. */
const handClock = () => {
  let [now, wake] = [0, (): void => {}];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        wake = () => {
          now += ms;
          signal?.removeEventListener('abort', resolve);
          resolve();
        };
        signal?.addEventListener('abort', resolve);
      }),
  };
  return { clock, pass: () => wake() };
};

test('a sample every ten seconds, without what may be many, fifteen minutes back; one that cannot be taken is left out', async () => {
  const { clock, pass } = handClock();
  let taken = 0;
  const text = vi.fn(async () => {
    taken += 1;
    if (taken === 2) throw new Error('the broker is away');
    const labelled = 'natter_queue_messages{queue="commands"} 3\nnatter_turns{agent="main"} 4\nnatter_seconds_bucket{le="1"} 5';
    return `${labelled}${taken > 2 ? `\nnatter_late ${taken}` : ''}`;
  });
  const history = new KeptMetrics({ clock, text });
  const closing = new AbortController();
  const keeping = history.keep(closing.signal);
  /** All that a sample is made of is there at once. */
  const sampled = (): Promise<void> => {
    pass();
    return new Promise(setImmediate);
  };
  for (let sample = 0; sample < 3; sample++) await sampled();
  expect(history.read()).toEqual({
    at: [10_000, 30_000],
    series: {
      natter_queue_messages: [3, 3],
      'natter_queue_messages queue="commands"': [3, 3],
      natter_turns: [4, 4],
      natter_late: [null, 3],
    },
  });
  for (let sample = 0; sample < 100; sample++) await sampled();
  expect(history.read().at).toHaveLength(90);
  closing.abort();
  await keeping;
  expect(text).toHaveBeenCalledTimes(taken);
});
