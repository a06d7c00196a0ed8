import { expect, test } from 'vitest';
import { type Run, simulate } from './simulate.ts';

const seeds = [3, 17, 42];
/** On a store with damage: such lives read more. */
const lives = async (order: readonly number[]): Promise<Map<number, Run>> => {
  const runs = new Map<number, Run>();
  for (const seed of order) {
    runs.set(seed, await simulate(seed, { store: 'damaged', steps: 100 }));
    // What a run has begun on the machine may end before the next.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return runs;
};

test('a seed gives the same history every time, whatever ran before it', { timeout: 120_000 }, async () => {
  const [first, second] = [await lives(seeds), await lives(seeds.toReversed())];
  for (const seed of seeds) {
    expect(second.get(seed)?.trace).toEqual(first.get(seed)?.trace);
    expect(second.get(seed)?.history).toEqual(first.get(seed)?.history);
    expect(second.get(seed)?.sometimes).toEqual(first.get(seed)?.sometimes);
    expect(first.get(seed)?.sometimes['memory projected'], 'what services load late is there').toBeGreaterThan(0);
  }
});

test('another seed gives another history', async () => {
  expect((await simulate(4)).trace).not.toEqual((await simulate(5)).trace);
});
