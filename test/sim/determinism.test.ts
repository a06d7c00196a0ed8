import { expect, test } from 'vitest';
import { simulate } from './simulate.ts';

test.each([3, 17, 42])('seed %i gives the same history every time', async (seed) => {
  const [first, second] = [await simulate(seed), await simulate(seed)];
  expect(second.trace).toEqual(first.trace);
  expect(second.history).toEqual(first.history);
  expect(second.sometimes).toEqual(first.sometimes);
});

test('another seed gives another history', async () => {
  expect((await simulate(4)).trace).not.toEqual((await simulate(5)).trace);
});
