import { describe, expect, test } from 'vitest';
import { backoffMs, jittered } from '../../../shared/kit/backoff.ts';

describe('backoff', () => {
  test.each([
    [0, 250],
    [1, 500],
    [2, 1_000],
    [5, 8_000],
    [6, 10_000],
    [7, 10_000],
    [1_000_000, 10_000],
    [Number.POSITIVE_INFINITY, 10_000],
  ])('after %i earlier failures it is %i ms, from 250 up to 10 000', (failures, expected) => {
    expect(backoffMs({ firstMs: 250, mostMs: 10_000 }, failures)).toBe(expected);
  });

  test('a first wait above the bound is cut to it', () => {
    expect(backoffMs({ firstMs: 500, mostMs: 100 }, 0)).toBe(100);
  });

  test('without an upper bound the wait stays finite', () => {
    expect(backoffMs({ firstMs: 1, mostMs: Number.POSITIVE_INFINITY }, 5_000)).toBe(2 ** 30);
  });

  test.each([
    [0, 500],
    [0.5, 750],
    [1, 1_000],
  ])('chance %d of 1000 ms leaves %i ms', (random, expected) => {
    expect(jittered(1_000, random)).toBe(expected);
  });
});
