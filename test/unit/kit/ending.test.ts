import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../shared/kit/clock.ts';
import { Ending, whenAborted } from '../../../shared/kit/signal.ts';

const listened = (): { calls: () => number; listener: () => void } => {
  let calls = 0;
  const listener = (): void => {
    calls += 1;
  };
  return { calls: () => calls, listener };
};

describe('an ending', () => {
  test('tells its listeners once, and why', () => {
    const [ending, told, other] = [new Ending(), listened(), listened()];
    ending.addEventListener('abort', told.listener);
    ending.addEventListener('abort', other.listener);
    ending.removeEventListener('abort', other.listener);
    ending.abort('over');
    ending.abort('again');
    expect([ending.aborted, ending.reason, told.calls(), other.calls()]).toEqual([true, 'over', 1, 0]);
  });

  test('ends a sleep, also one that begins later', async () => {
    const ending = new Ending();
    const sleeping = systemClock.sleep(3_600_000, ending);
    ending.abort();
    await sleeping;
    await systemClock.sleep(3_600_000, ending);
  });

  test('a signal that many listen to tells those who still do', () => {
    const [controller, told, other, late] = [new AbortController(), listened(), listened(), listened()];
    whenAborted(controller.signal, told.listener);
    whenAborted(controller.signal, other.listener)();
    controller.abort();
    whenAborted(controller.signal, late.listener);
    expect([told.calls(), other.calls(), late.calls()]).toEqual([1, 0, 0]);
  });
});
