import { describe, expect, test } from 'vitest';
import { Signal } from '../../../shared/kit/signal.ts';
import { VirtualClock } from '../../sim/world/virtual-clock.ts';

/** What `promise` is after everything that is due has run. */
const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let isDone = false;
  void promise.then(() => (isDone = true));
  await new Promise((resolve) => setImmediate(resolve));
  return isDone;
};
const never = new AbortController().signal;

describe('a signal', () => {
  test('wakes its waiter', async () => {
    const signal = new Signal();
    const waiting = signal.wait(never);
    expect(await settled(waiting)).toBe(false);
    signal.notify();
    await waiting;
  });

  test('ends the next wait at once when nobody waited, and only that one', async () => {
    const signal = new Signal();
    signal.notify();
    signal.notify();
    await signal.wait(never);
    expect(await settled(signal.wait(never))).toBe(false);
  });

  test('ends a wait whose end is asked for, before or during it', async () => {
    const signal = new Signal();
    const ended = new AbortController();
    const waiting = signal.wait(ended.signal);
    expect(await settled(waiting)).toBe(false);
    ended.abort();
    await waiting;
    await signal.wait(ended.signal);
  });

  test('wakes a waiter with a time limit, or the time does', async () => {
    const [signal, clock] = [new Signal(), new VirtualClock(0)];
    const first = signal.waitAtMost(100, clock);
    expect(await settled(first)).toBe(false);
    signal.notify();
    await first;
    const second = signal.waitAtMost(100, clock);
    await clock.pass(99);
    expect(await settled(second)).toBe(false);
    await clock.pass(1);
    expect(await settled(second)).toBe(true);
  });

  test('ends the next wait with a time limit at once when nobody waited', async () => {
    const [signal, clock] = [new Signal(), new VirtualClock(0)];
    signal.notify();
    expect(await settled(signal.waitAtMost(100, clock))).toBe(true);
    expect(await settled(signal.waitAtMost(100, clock))).toBe(false);
  });
});
