import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Clock, systemClock } from '../../../shared/kit/clock.ts';
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
const start = (work: Parameters<typeof startLeasedWork>[0]['work'], clock: Clock = systemClock) =>
  startLeasedWork({
    ...{
      name: 'sweeping',
      member: 'a',
      leases: leases as Leases,
      clock,
      log: createLog({ level: 'silent', name: 'test' }),
    },
    work,
  });
const untilStopping = (stopping: AbortSignal) =>
  new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve()));

test('work that ends when it is told to leaves no sleep behind, whose timer would keep the process', async () => {
  let sleeping = 0;
  const sleep: Clock['sleep'] = async (ms, signal) => {
    sleeping += 1;
    await systemClock.sleep(ms, signal);
    sleeping -= 1;
  };
  const sweeping = start(({ stopping }) => untilStopping(stopping), { ...systemClock, sleep });
  await vi.advanceTimersByTimeAsync(0);
  const stopped = sweeping.stop(4_000);
  expect(sleeping).toBe(1);
  await vi.advanceTimersByTimeAsync(0);
  await stopped;
  expect(sleeping).toBe(0);
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

const problemsOf = ({ problems }: ReturnType<typeof start>) => problems().map(({ message }) => message);

test('a problem stays through tries that begin well and fail again, until one goes on', async () => {
  let isAway = true;
  const sweeping = start(async ({ stopping, healthy }) => {
    healthy();
    await Promise.resolve();
    if (isAway) throw new Error('no route');
    await untilStopping(stopping);
  });
  const seen = new Set<string>();
  for (let ms = 0; ms < 10_000; ms += 100) {
    await vi.advanceTimersByTimeAsync(100);
    seen.add(String(problemsOf(sweeping)));
  }
  expect([...seen]).toEqual(['sweeping: no route']);
  isAway = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(problemsOf(sweeping)).toEqual(['sweeping: no route']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(problemsOf(sweeping)).toEqual([]);
});

test('work that failed before it was in order is believed at once when it is', async () => {
  let isAway = true;
  const sweeping = start(async ({ stopping, healthy }) => {
    if (isAway) throw new Error('no route');
    healthy();
    await untilStopping(stopping);
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(problemsOf(sweeping)).toEqual(['sweeping: no route']);
  isAway = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(problemsOf(sweeping)).toEqual([]);
});
