import { expect, test } from 'vitest';
import { untilBeat } from '../../../shared/kit/clock.ts';

test('those who look after something every so often wake together, and nobody twice because a timer was early', () => {
  const at = (now: number, everyMs: number): number => now + untilBeat({ monotonic: () => now }, everyMs);
  for (const now of [0, 1, 249, 310.5, 749.75]) expect(at(now, 1_000), String(now)).toBe(1_000);
  for (const now of [750.5, 999.25, 1_000, 1_001, 1_600]) expect(at(now, 1_000), String(now)).toBe(2_000);
  for (const now of [600, 740]) expect(at(now, 250) % 250).toBe(0);
  expect(at(1_000, 250)).toBe(1_250);
});
