import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../shared/kit/clock.ts';
import { createLog } from '../../../shared/kit/log.ts';
import type { Leases } from '../../../shared/ports/leases.ts';
import { startLeasedWork } from '../../../shared/runtime/leased-work.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The lease is ours until we release it. */
const leases: Pick<Leases, 'hold'> = {
  hold: async (_name, _member, _released, work) => work(new AbortController().signal),
};
const start = (work: Parameters<typeof startLeasedWork>[0]['work']) =>
  startLeasedWork({
    ...{
      name: 'sweeping',
      member: 'a',
      leases: leases as Leases,
      clock: systemClock,
      log: createLog({ level: 'silent', name: 'test' }),
    },
    work,
  });
const untilStopping = (stopping: AbortSignal) =>
  new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve()));

test('work that ends when it is told to leaves no timer behind, which would keep the process', async () => {
  const sweeping = start(({ stopping }) => untilStopping(stopping));
  await vi.advanceTimersByTimeAsync(0);
  const stopped = sweeping.stop(4_000);
  await vi.advanceTimersByTimeAsync(0);
  await stopped;
  expect(vi.getTimerCount()).toBe(0);
});

test('work that does not end is left after the deadline', async () => {
  const sweeping = start(() => new Promise(() => {}));
  let over = false;
  await vi.advanceTimersByTimeAsync(0);
  void sweeping.stop(4_000).then(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(3_999);
  expect(over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(over).toBe(true);
});
